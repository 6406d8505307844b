! SPDX-FileCopyrightText: 2026 The Zygos authors
! SPDX-License-Identifier: Apache-2.0
!
! Stands for a simulation: flow along half a channel between a cold wall and the plane of symmetry, driven by a pressure
! gradient that rises and falls, and heated by its own dissipation. Backward Euler; the viscosity is that of the last
! iteration.
module channel
  use, intrinsic :: iso_fortran_env, only: real64
  implicit none
  private
  public :: flow, states_of, set_viscosity, advance_velocity, advance_temperature

  real(real64), parameter :: time_step = 0.02_real64, conductivity = 0.4_real64

  type :: flow
    integer :: cells
    real(real64) :: width, time = 0
    real(real64), allocatable :: velocity(:), before(:)     ! at the nodes, 0 at the wall
    real(real64), allocatable :: temperature(:), viscosity(:)  ! in the cells
  end type flow

  interface flow
    procedure :: flow_of
  end interface flow

contains

  type(flow) function flow_of(cells) result(self)
    integer, intent(in) :: cells

    self%cells = cells
    self%width = 1.0_real64/cells
    allocate (self%velocity(0:cells), self%before(0:cells), source=0.0_real64)
    allocate (self%temperature(cells), self%viscosity(cells), source=1.0_real64)
  end function flow_of

  ! What the rheology asks for: the logarithm of the strain rate, and the temperature.
  subroutine states_of(self, x)
    type(flow), intent(in) :: self
    real(real64), intent(out) :: x(2, self%cells)
    real(real64), parameter :: min_rate = 1e-2_real64

    x(1, :) = log(sqrt(strain_rate(self)**2 + min_rate**2))
    x(2, :) = self%temperature
  end subroutine states_of

  subroutine set_viscosity(self, y)
    type(flow), intent(inout) :: self
    real(real64), intent(in) :: y(1, self%cells)

    self%viscosity = exp(y(1, :))
  end subroutine set_viscosity

  pure function strain_rate(self) result(rate)
    type(flow), intent(in) :: self
    real(real64) :: rate(self%cells)

    rate = (self%velocity(1:) - self%velocity(:self%cells - 1))/self%width
  end function strain_rate

  ! From `before` to the end of the time step.
  subroutine advance_velocity(self)
    type(flow), intent(inout) :: self
    real(real64) :: factor(self%cells), lower(self%cells), upper(self%cells), right(self%cells), gradient

    gradient = 3 + 1.5_real64*sin(1.5_real64*self%time)
    factor = self%viscosity*time_step/self%width**2
    lower = -factor
    upper(:self%cells - 1) = -factor(2:)
    upper(self%cells) = 0
    right = self%before(1:) + gradient*time_step
    right(self%cells) = right(self%cells)/2  ! half a cell at the plane of symmetry
    call solve(lower, upper, [spread(1.0_real64, 1, self%cells - 1), 0.5_real64], right)
    self%velocity(1:) = right
  end subroutine advance_velocity

  ! Conduction and dissipation; ends the time step.
  subroutine advance_temperature(self)
    type(flow), intent(inout) :: self
    real(real64) :: lower(self%cells), upper(self%cells), right(self%cells), factor

    factor = conductivity*time_step/self%width**2
    lower = -factor
    lower(1) = -2*factor  ! the wall is half a cell away, at temperature 1
    upper = -factor
    upper(self%cells) = 0
    right = self%temperature + time_step*0.2_real64*self%viscosity*strain_rate(self)**2
    right(1) = right(1) + 2*factor
    call solve(lower, upper, spread(1.0_real64, 1, self%cells), right)
    self%temperature = right
    self%before = self%velocity
    self%time = self%time + time_step
  end subroutine advance_temperature

  ! Thomas' algorithm for the diagonal mass - lower - upper; what belongs to the wall is in `right` already.
  pure subroutine solve(lower, upper, mass, right)
    real(real64), intent(in) :: lower(:), upper(:), mass(:)
    real(real64), intent(inout) :: right(:)
    real(real64) :: diagonal(size(right)), ratio
    integer :: i

    diagonal = mass - lower - upper
    do i = 2, size(right)
      ratio = lower(i)/diagonal(i - 1)
      diagonal(i) = diagonal(i) - ratio*upper(i - 1)
      right(i) = right(i) - ratio*right(i - 1)
    end do
    do i = size(right) - 1, 1, -1
      right(i + 1) = right(i + 1)/diagonal(i + 1)
      right(i) = right(i) - upper(i)*right(i + 1)
    end do
    right(1) = right(1)/diagonal(1)
  end subroutine solve
end module channel
