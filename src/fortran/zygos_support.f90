! SPDX-FileCopyrightText: 2026 The Zygos authors
! SPDX-License-Identifier: Apache-2.0
!
! Errors, texts and optional arguments between Fortran and C, for the module zygos alone.
module zygos_support
  use, intrinsic :: iso_c_binding
  use, intrinsic :: iso_fortran_env, only: error_unit, int64
  use zygos_c
  implicit none
  private
  public :: conclude, text_of, text_at, characters_of, value_or, flag_of, options_of, refused
  public :: code_ok, code_usage, code_memory

  integer(c_int), parameter :: code_ok = 0
  integer(c_int), parameter :: code_usage = 2
  integer(c_int), parameter :: code_memory = 6

contains

  ! Ends the program with the message unless the caller asked for the code.
  subroutine conclude(code, error, stat, errmsg)
    integer(c_int), intent(in) :: code
    type(c_error), intent(in) :: error
    integer, intent(out), optional :: stat
    character(*), intent(inout), optional :: errmsg
    character(:), allocatable :: message

    if (present(stat)) stat = int(code)
    if (code == code_ok) return
    message = text_of(error%message)
    if (present(errmsg)) errmsg = message
    if (present(stat)) return
    write (error_unit, '(2a)') 'zygos: ', message
    error stop int(code)
  end subroutine conclude

  ! `code`, which `error` then describes.
  integer(c_int) function refused(error, code, text)
    type(c_error), intent(inout) :: error
    integer(c_int), intent(in) :: code
    character(*), intent(in) :: text
    integer :: length

    length = min(len(text), zygos_message_length - 1)
    error%code = code
    error%message(:length + 1) = characters_of(text(:length))
    refused = code
  end function refused

  function text_of(characters) result(text)
    character(kind=c_char), intent(in) :: characters(:)
    character(:), allocatable :: text
    integer :: length, i

    length = findloc(characters, c_null_char, dim=1) - 1
    allocate (character(length) :: text)
    do i = 1, length
      text(i:i) = characters(i)
    end do
  end function text_of

  function text_at(address) result(text)
    type(c_ptr), intent(in) :: address
    character(:), allocatable :: text
    character(kind=c_char), pointer :: characters(:)
    integer :: length

    call c_f_pointer(address, characters, [huge(1)])
    length = 1
    do while (characters(length) /= c_null_char)
      length = length + 1
    end do
    text = text_of(characters(:length))
  end function text_at

  ! With the zero byte that ends a text in C.
  pure function characters_of(text) result(characters)
    character(*), intent(in) :: text
    character(kind=c_char) :: characters(len(text) + 1)
    integer :: i

    do i = 1, len(text)
      characters(i) = text(i:i)
    end do
    characters(len(text) + 1) = c_null_char
  end function characters_of

  pure integer function value_or(given, default)
    integer, intent(in), optional :: given
    integer, intent(in) :: default

    value_or = default
    if (present(given)) value_or = given
  end function value_or

  pure integer(c_int32_t) function flag_of(given)
    logical, intent(in), optional :: given

    flag_of = 0
    if (.not. present(given)) return
    if (given) flag_of = 1
  end function flag_of

  pure type(c_options) function options_of(best, precision, block, threads)
    logical, intent(in), optional :: best
    integer, intent(in), optional :: precision, block, threads

    options_of%best = flag_of(best)
    options_of%precision = int(value_or(precision, 0), c_int32_t)
    options_of%block = int(value_or(block, 0), c_int64_t)
    options_of%threads = int(value_or(threads, 0), c_int32_t)
  end function options_of
end module zygos_support
