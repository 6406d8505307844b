! SPDX-FileCopyrightText: 2026 The Zygos authors
! SPDX-License-Identifier: Apache-2.0
!
! test_fortran_run RUN IN OUT PRECISION: predicts the samples of IN with RUN, and compares the bits with those of OUT,
! which `zygos predict` wrote. Both are .npy files with a header of 128 bytes.
program test_fortran_run
  use, intrinsic :: iso_fortran_env, only: real32, real64
  use zygos
  implicit none
  integer, parameter :: samples = 150, batch = 32, header = 128
  type(zygos_session) :: session
  type(zygos_model) :: model
  real(real64) :: x(6, samples), y_double(3, samples), expected_double(3, samples)
  real(real32) :: y_single(3, samples), expected_single(3, samples)
  integer :: unit, equal

  open (newunit=unit, file=argument(2), access='stream', form='unformatted', status='old', action='read')
  read (unit, pos=header + 1) x
  close (unit)
  call session%initialize(threads=2)
  call model%load(session, argument(1), block=batch)
  open (newunit=unit, file=argument(3), access='stream', form='unformatted', status='old', action='read')
  if (argument(4) == 'float32') then
    read (unit, pos=header + 1) expected_single
    call model%predict(x, y_single)
    equal = count(transfer(y_single, [0], size(y_single)) == transfer(expected_single, [0], size(y_single)))
  else
    read (unit, pos=header + 1) expected_double
    call model%predict(x, y_double)
    equal = count(abs(y_double - expected_double) <= 0.0_real64)
  end if
  close (unit)
  call model%free()
  call session%finalize()
  print '(i0, a)', equal, ' equal elements'
  if (equal /= 3*samples) error stop 1

contains

  function argument(number) result(text)
    integer, intent(in) :: number
    character(:), allocatable :: text
    integer :: length

    call get_command_argument(number, length=length)
    allocate (character(length) :: text)
    call get_command_argument(number, value=text)
  end function argument
end program test_fortran_run
