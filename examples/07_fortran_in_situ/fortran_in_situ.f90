! SPDX-FileCopyrightText: 2026 The Zygos authors
! SPDX-License-Identifier: Apache-2.0
!
! A solver in Fortran learns its constitutive model while it runs. The viscosity of every cell follows from an implicit
! equation for each of 24 sizes of grains; a small network learns it from the cells as they are, and takes over as soon as
! its error on cells that it has not seen is small.
program fortran_in_situ
  use, intrinsic :: iso_fortran_env, only: int64, real64
  use channel
  use rheology
  use zygos
  implicit none
  integer, parameter :: cells = 200, steps = 600, iterations = 2
  type(zygos_session) :: session
  type(zygos_surrogate) :: net
  type(flow) :: learned, reference
  real(real64) :: x(2, cells), y(1, cells), start, in_solver, in_network, in_training, error, off, budget
  integer :: step, iteration, solved, predicted
  character(16) :: milliseconds

  ! For training in an iteration.
  budget = 20e-3_real64
  call get_command_argument(1, milliseconds)
  if (milliseconds /= '') then
    read (milliseconds, *) budget
    budget = 1e-3_real64*budget
  end if

  ! 1. One thread, as the solver has; Kokkos is initialised unless the program has done so.
  call session%initialize(threads=1)

  ! 2. The network: strain rate and temperature in, viscosity out, all but the former in logarithms.
  call net%create(session, inputs=2, outputs=1, hidden=[24, 24], learning_rate=2e-3_real64, batch=128, &
                  capacity=20000)

  ! 3. The time loop. Every tenth step is solved in any case: new cells to learn from.
  learned = flow(cells)
  reference = flow(cells)
  in_solver = 0
  in_network = 0
  in_training = 0
  error = huge(error)
  solved = 0
  predicted = 0
  do step = 1, steps
    do iteration = 1, iterations
      call states_of(learned, x)
      start = seconds()
      if (error < 0.005_real64 .and. mod(step, 10) /= 0) then
        call net%predict(x, y)
        in_network = in_network + seconds() - start
        predicted = predicted + cells
      else
        call log_viscosity(x, y)
        in_solver = in_solver + seconds() - start
        solved = solved + cells
        start = seconds()
        call net%add(x, y)
        call net%train(budget=budget, max_steps=40)
        call net%validate(error)
        in_training = in_training + seconds() - start
      end if
      call set_viscosity(learned, y)
      call advance_velocity(learned)
    end do
    call advance_temperature(learned)
    call advance_reference()
  end do

  ! 4. Was it worth it, and is the flow still what it should be?
  off = sqrt(sum((learned%velocity - reference%velocity)**2)/sum(reference%velocity**2))
  print '(i0, a, i0, a, f0.4)', predicted, ' of ', predicted + solved, ' updates predicted, error on cells not seen ', error
  print '(2(a, f0.2), a)', 'an update: solver ', 1e6_real64*in_solver/solved, ' us, network ', &
    1e6_real64*in_network/max(predicted, 1), ' us'
  print '(3(a, f0.3), a)', 'time: solver ', in_solver, ' s, network ', in_network, ' s, training ', in_training, ' s'
  print '(a, f0.3, a)', 'saved: ', in_solver/solved*predicted - in_network - in_training, ' s'
  print '(2(a, f0.5))', 'velocity off by ', off, ' of itself, temperature by at most ', &
    maxval(abs(learned%temperature - reference%temperature))

  ! 5. Surrogates first: those of the main program do not free themselves.
  call net%free()
  call session%finalize()
  if (2*predicted < solved .or. .not. off < 0.01_real64) error stop 1

contains

  ! The same flow with the solver alone.
  subroutine advance_reference()
    real(real64) :: states(2, cells), viscosities(1, cells)
    integer :: i

    do i = 1, iterations
      call states_of(reference, states)
      call log_viscosity(states, viscosities)
      call set_viscosity(reference, viscosities)
      call advance_velocity(reference)
    end do
    call advance_temperature(reference)
  end subroutine advance_reference

  real(real64) function seconds()
    integer(int64) :: ticks, rate

    call system_clock(ticks, rate)
    seconds = real(ticks, real64)/real(rate, real64)
  end function seconds
end program fortran_in_situ
