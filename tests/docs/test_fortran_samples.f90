! SPDX-FileCopyrightText: 2026 The Zygos authors
! SPDX-License-Identifier: Apache-2.0
!
! test_fortran_samples: the samples in Fortran of docs/c_and_fortran.md, compiled as they are printed, in a folder with a
! run in runs/surrogate.
module fortran_samples
  use, intrinsic :: iso_fortran_env, only: real32, real64
  use zygos
  implicit none
  integer, parameter :: cells = 40

contains

  subroutine predict(tensors, invariants)
    include 'c_and_fortran_fortran_1.head.inc'
    real(real64), intent(in) :: tensors(6, cells)
    real(real32), intent(inout) :: invariants(3, cells)

    include 'c_and_fortran_fortran_1.inc'
  end subroutine predict

  subroutine learn(session, x, f, steps, found)
    type(zygos_session), intent(inout) :: session
    real(real64), intent(in) :: x(6, cells)
    real(real64), intent(inout) :: f(3, cells)
    integer, intent(in) :: steps
    real(real64), intent(out) :: found
    integer :: step
    include 'c_and_fortran_fortran_2.head.inc'

    include 'c_and_fortran_fortran_2.inc'
    found = error
  end subroutine learn
end module fortran_samples

program test_fortran_samples
  use fortran_samples
  implicit none
  type(zygos_session) :: session
  real(real64) :: x(6, cells), f(3, cells), error
  real(real32) :: invariants(3, cells)
  integer :: i, k

  do i = 1, cells
    do k = 1, 6
      x(k, i) = sin(0.37_real64*i*k)
    end do
    f(:, i) = x(1:3, i)*x(4:6, i)
  end do
  invariants = 0
  ! Kokkos is initialised once: by this session, which outlives that of the sample.
  call session%initialize(threads=1)
  call predict(x, invariants)
  if (all(abs(invariants) <= 0)) error stop 'nothing was predicted'
  call learn(session, x, f, 3, error)
  call session%finalize()
  if (.not. error > 0) error stop 'nothing was learned'
end program test_fortran_samples
