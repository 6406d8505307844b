! SPDX-FileCopyrightText: 2026 The Zygos authors
! SPDX-License-Identifier: Apache-2.0
!
! The use of Kokkos by the library. Programs use the module zygos.
module zygos_sessions
  use, intrinsic :: iso_c_binding
  use zygos_c
  use zygos_support
  implicit none
  private
  public :: zygos_session

  ! The use of Kokkos: zygos_initialize and zygos_finalize of the C interface.
  type :: zygos_session
    type(c_ptr) :: handle = c_null_ptr
  contains
    procedure :: initialize => session_initialize
    procedure :: finalize => session_finalize
    procedure :: threads => session_threads
  end type zygos_session

contains

  ! threads: of the predictions of each model; without it all that Kokkos has.
  subroutine session_initialize(self, threads, stat, errmsg)
    class(zygos_session), intent(inout) :: self
    integer, intent(in), optional :: threads
    integer, intent(out), optional :: stat
    character(*), intent(inout), optional :: errmsg
    type(c_error) :: error
    type(c_ptr) :: made
    integer(c_int) :: code

    made = c_null_ptr
    code = c_finalize(self%handle, error)
    if (code == code_ok) then
      self%handle = c_null_ptr
      code = c_initialize(int(value_or(threads, 0), c_int32_t), made, error)
    end if
    if (code == code_ok) self%handle = made
    call conclude(code, error, stat, errmsg)
  end subroutine session_initialize

  subroutine session_finalize(self, stat, errmsg)
    class(zygos_session), intent(inout) :: self
    integer, intent(out), optional :: stat
    character(*), intent(inout), optional :: errmsg
    type(c_error) :: error
    integer(c_int) :: code

    code = c_finalize(self%handle, error)
    if (code == code_ok) self%handle = c_null_ptr
    call conclude(code, error, stat, errmsg)
  end subroutine session_finalize

  pure integer function session_threads(self)
    class(zygos_session), intent(in) :: self

    session_threads = int(c_threads(self%handle))
  end function session_threads
end module zygos_sessions
