! SPDX-FileCopyrightText: 2026 The Zygos authors
! SPDX-License-Identifier: Apache-2.0
!
! Arrays of any rank and stride as the C interface takes them. Programs use the module zygos.
module zygos_arrays
  use, intrinsic :: iso_c_binding
  use, intrinsic :: iso_fortran_env, only: real32, real64
  use zygos_c
  use zygos_support
  implicit none
  private
  public :: zygos_array, zygos_weight, zygos_view, list_weights

  ! An array that zygos_view() was called with, which must have the attribute target and live as long.
  type :: zygos_array
    type(c_array) :: c
  end type zygos_array

  ! A parameter and its elements: zygos_weight('fc1/kernel', zygos_view(kernel)), real kernel(units, inputs). Not an
  ! allocatable name: gfortran 12 leaks those of lists such as [zygos_weight(...), zygos_weight(...)].
  type :: zygos_weight
    character(256) :: name = ''
    type(zygos_array) :: values
  end type zygos_weight

  ! An array as one of several inputs, or as the elements of a weight. The argument is a pointer, or what one may point
  ! to: so a compiler refuses expressions and arrays without the attribute target, and makes no temporary copy. A
  ! component of all elements of an array of derived type needs a pointer of its own, since gfortran 12 passes the
  ! address of another component otherwise: p => cells%rho, zygos_view(p).
  ! Of an array that the C interface cannot take nothing is kept, which is refused where it is used.
  interface zygos_view
    procedure :: view_4, view_8
  end interface zygos_view

contains

  type(zygos_array) function view_4(x) result(view)
    real(real32), intent(in), pointer :: x(..)
    type(c_error) :: error

    if (c_array_of(x, view%c, error) /= code_ok) view%c = c_array()
  end function view_4

  type(zygos_array) function view_8(x) result(view)
    real(real64), intent(in), pointer :: x(..)
    type(c_error) :: error

    if (c_array_of(x, view%c, error) /= code_ok) view%c = c_array()
  end function view_8

  ! The list points into `names`.
  subroutine list_weights(weights, names, list)
    type(zygos_weight), intent(in) :: weights(:)
    character(kind=c_char), allocatable, target, intent(out) :: names(:)
    type(c_weight), intent(out) :: list(:)
    integer :: begin, end, i

    allocate (names(sum([(len_trim(weights(i)%name) + 1, i=1, size(weights))])))
    begin = 1
    do i = 1, size(weights)
      end = begin + len_trim(weights(i)%name)
      names(begin:end) = characters_of(trim(weights(i)%name))
      list(i)%name = c_loc(names(begin))
      list(i)%values = weights(i)%values%c
      begin = end + 1
    end do
  end subroutine list_weights
end module zygos_arrays
