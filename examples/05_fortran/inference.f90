! SPDX-FileCopyrightText: 2026 The Zygos authors
! SPDX-License-Identifier: Apache-2.0
!
! Predicts with a trained run on arrays of a program in Fortran.
!
!   fortran RUN_DIR     a run of `zygos train inputs/surrogate_mlp.yaml`, say
!   fortran             a linear network whose weights are written in linear_network.f90
program inference
  use, intrinsic :: iso_fortran_env, only: real32, real64
  use linear_network
  use zygos
  implicit none
  integer, parameter :: cells = 10000, ghosts = 2
  type(zygos_session) :: session
  type(zygos_model) :: model
  real(real64) :: tensors(6, 1 - ghosts:cells + ghosts)
  real(real32) :: invariants(3, cells)
  real(real64) :: error
  character(4096) :: run
  integer :: i, k

  tensors = 0
  do i = 1, cells
    do k = 1, 6
      tensors(k, i) = sin(0.37_real64*i*k)
    end do
  end do

  ! 1. Kokkos, with all cores, unless the program has initialised it.
  call session%initialize()

  ! 2. The model: of a run's newest checkpoint, or from memory.
  if (command_argument_count() > 0) then
    call get_command_argument(1, run)
    call model%load(session, run)
  else
    call create_linear_network(session, model)
  end if

  ! 3. The last dimension counts samples. Kinds may differ, and sections are not copied: here all but the ghost cells.
  call model%predict(tensors(:, 1:cells), invariants)

  error = sum(abs(invariants(1, :) - sum(tensors(1:3, 1:cells), dim=1)))/cells
  print '(i0, a, i0, a, f5.3)', cells, ' cells on ', session%threads(), ' threads, mean error of the trace ', error

  ! 4. Models first: those of the main program do not free themselves.
  call model%free()
  call session%finalize()
  if (command_argument_count() == 0 .and. error > 1e-6_real64) error stop 1
end program inference
