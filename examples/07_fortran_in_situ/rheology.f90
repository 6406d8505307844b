! SPDX-FileCopyrightText: 2026 The Zygos authors
! SPDX-License-Identifier: Apache-2.0
!
! Stands for an expensive constitutive model: creep of a polycrystal, in units of the flow. Grains of 24 sizes deform at
! one rate (Taylor's assumption), and in each of them three mechanisms act in series, so that its stress follows from an
! equation that Newton's method solves:
!
!   rate = diffusion(T) stress / size^3 + dislocation(T) stress^3.5 + Peierls(T, stress)
module rheology
  use, intrinsic :: iso_fortran_env, only: real64
  implicit none
  private
  public :: log_viscosity

  integer, parameter :: sizes = 24

contains

  ! Of each point, from the logarithm of its strain rate and its temperature: x(2, n), y(1, n).
  subroutine log_viscosity(x, y)
    real(real64), intent(in) :: x(:, :)
    real(real64), intent(out) :: y(:, :)
    real(real64) :: stress, weight, total, place
    integer :: point, k

    do point = 1, size(x, 2)
      stress = 0
      total = 0
      do k = 1, sizes
        place = 4.0_real64*(k - 0.5_real64)/sizes - 2  ! deviations of a lognormal distribution
        weight = exp(-0.5_real64*place**2)
        stress = stress + weight*exp(log_stress(x(1, point), x(2, point), exp(0.5_real64*place)))
        total = total + weight
      end do
      y(1, point) = log(stress/total) - x(1, point)
    end do
  end subroutine log_viscosity

  ! Newton's method in logarithms, where the sum of powers is nearly linear.
  pure real(real64) function log_stress(log_rate, temperature, grain) result(s)
    real(real64), intent(in) :: log_rate, temperature, grain
    real(real64) :: diffusion, dislocation, peierls, barrier, slope, step
    integer :: iteration

    s = 0
    do iteration = 1, 60
      diffusion = 0.3_real64*exp(8*(1 - 1/temperature) + s)/grain**3
      dislocation = 0.5_real64*exp(14*(1 - 1/temperature) + 3.5_real64*s)
      barrier = max(1 - exp(s)/20, 0.0_real64)
      peierls = 0.2_real64*exp(2*s - 6*barrier**2/temperature)
      slope = diffusion + 3.5_real64*dislocation + peierls*(2 + 0.6_real64*barrier*exp(s)/temperature)
      step = (log(diffusion + dislocation + peierls) - log_rate)*(diffusion + dislocation + peierls)/slope
      s = s - step
      if (abs(step) < 1e-12_real64) exit
    end do
  end function log_stress
end module rheology
