! SPDX-FileCopyrightText: 2026 The Zygos authors
! SPDX-License-Identifier: Apache-2.0
!
! Training inside a simulation. Programs use the module zygos.
!
!   type(zygos_surrogate) :: net
!
!   call net%create(session, inputs=6, outputs=3, hidden=[64, 64])
!   do while (running)
!     call net%add(x, f)                                  ! real x(6, n), f(3, n)
!     call net%train(budget=500e-6_real64)
!     call net%validate(error)
!     if (error < 0.01_real64) call net%predict(x, f)     ! instead of the solver
!   end do
!   call net%free()
!
! What the arguments mean: include/zygos/zygos_insitu.h.
module zygos_surrogates
  use, intrinsic :: iso_c_binding
  use, intrinsic :: iso_fortran_env, only: real32, real64
  use zygos_arrays
  use zygos_c
  use zygos_insitu_c
  use zygos_learners
  use zygos_sessions
  use zygos_support
  implicit none
  private
  public :: zygos_surrogate, zygos_training, zygos_surrogate_info

  ! Frees itself at the end of its scope. There is no copy: `a = b` ends the program.
  type, extends(zygos_learner) :: zygos_surrogate
  contains
    procedure :: create => surrogate_create
    procedure :: load_spec => surrogate_load_spec
    procedure :: parse_spec => surrogate_parse_spec
    procedure :: free => surrogate_free
    ! add(inputs, targets) and predict(inputs, outputs): each real32 or real64, of 1 to 7 dimensions; or ([inputs], ...)
    ! or ([inputs], [targets]) of zygos_view()s for samples in several pieces.
    generic :: add => add_44, add_48, add_84, add_88, add_views_4, add_views_8, add_views
    generic :: predict => predict_44, predict_48, predict_84, predict_88, predict_views_4, predict_views_8, predict_views
    ! predict_spread(inputs, outputs, spread), of an ensemble: all real32, all real64, or ([inputs], [outputs], spread) of
    ! zygos_view()s. outputs: the mean of its networks; spread(n): how far they are apart.
    generic :: predict_spread => predict_spread_4, predict_spread_8, predict_spread_views
    generic :: assignment(=) => surrogate_from
    procedure, private :: add_44, add_48, add_84, add_88, add_views_4, add_views_8, add_views
    procedure, private :: predict_44, predict_48, predict_84, predict_88, predict_views_4, predict_views_8, predict_views
    procedure, private :: predict_spread_4, predict_spread_8, predict_spread_views
    procedure, private :: surrogate_from
    final :: surrogate_final
  end type zygos_surrogate

  character(7), parameter :: activations(5) = [character(7) :: 'tanh', 'relu', 'sigmoid', 'gelu', 'linear']
  character(7), parameter :: keeps(2) = [character(7) :: 'uniform', 'newest']

contains

  ! ------------------------------------------------------------------------------------ creation

  ! members: networks of an ensemble. activation: 'tanh', 'relu', 'sigmoid', 'gelu' or 'linear'. keep: 'uniform' or 'newest'.
  subroutine surrogate_create(self, session, inputs, outputs, hidden, activation, learning_rate, batch, min_samples, block, &
                              precision, standardise, seed, capacity, validate_every, keep, stored, threads, members, stat, &
                              errmsg)
    class(zygos_surrogate), intent(inout) :: self
    class(zygos_session), intent(in) :: session
    integer, intent(in) :: inputs, outputs
    integer, intent(in), optional :: hidden(:), batch, min_samples, block, precision, seed, capacity, validate_every, &
        stored, threads, members
    real(real64), intent(in), optional :: learning_rate
    logical, intent(in), optional :: standardise
    character(*), intent(in), optional :: activation, keep
    integer, intent(out), optional :: stat
    character(*), intent(inout), optional :: errmsg
    integer(c_int64_t), allocatable, target :: widths(:)
    type(c_surrogate_options) :: options
    type(c_error) :: error
    type(c_ptr) :: made
    integer(c_int) :: code

    made = c_null_ptr
    options = numbers_of(batch, min_samples, block, precision, seed, capacity, validate_every, stored, threads)
    options%inputs = inputs
    options%outputs = outputs
    options%members = int(value_or(members, 0), c_int32_t)
    if (present(hidden)) then
      widths = hidden
      options%hidden_count = size(hidden)
      if (size(hidden) > 0) options%hidden = c_loc(widths)
    end if
    if (present(learning_rate)) options%learning_rate = learning_rate
    if (present(standardise)) options%own_units = flag_of(.not. standardise)
    code = code_ok
    if (present(activation)) code = chosen('activation', activation, activations, options%activation, error)
    if (present(keep) .and. code == code_ok) code = chosen('keep', keep, keeps, options%keep, error)
    if (code == code_ok) code = c_surrogate_create(session%handle, options, made, error)
    call hold(self, code, made)
    call conclude(code, error, stat, errmsg)
  end subroutine surrogate_create

  type(c_surrogate_options) function numbers_of(batch, min_samples, block, precision, seed, capacity, validate_every, &
                                                stored, threads) result(options)
    integer, intent(in), optional :: batch, min_samples, block, precision, seed, capacity, validate_every, stored, threads

    options%batch = value_or(batch, 0)
    options%min_samples = value_or(min_samples, 0)
    options%block = value_or(block, 0)
    options%precision = int(value_or(precision, 0), c_int32_t)
    options%seed = value_or(seed, 0)
    options%capacity = value_or(capacity, 0)
    options%validate_every = value_or(validate_every, 0)
    options%stored = int(value_or(stored, 0), c_int32_t)
    options%threads = int(value_or(threads, 0), c_int32_t)
  end function numbers_of

  ! The number that C has for one of the words, from 0.
  integer(c_int) function chosen(what, word, words, number, error) result(code)
    character(*), intent(in) :: what, word, words(:)
    integer(c_int32_t), intent(inout) :: number
    type(c_error), intent(inout) :: error
    character(:), allocatable :: allowed
    integer :: i

    code = code_ok
    allowed = ''
    do i = 1, size(words)
      allowed = allowed//' '//trim(words(i))
      if (word == words(i)) then
        number = int(i - 1, c_int32_t)
        return
      end if
    end do
    code = refused(error, code_usage, what//" is '"//trim(word)//"'; allowed are"//allowed)
  end function chosen

  ! From the section `surrogate` of a YAML file, the simulation's own input.
  subroutine surrogate_load_spec(self, session, path, threads, stat, errmsg)
    class(zygos_surrogate), intent(inout) :: self
    class(zygos_session), intent(in) :: session
    character(*), intent(in) :: path
    integer, intent(in), optional :: threads
    integer, intent(out), optional :: stat
    character(*), intent(inout), optional :: errmsg
    type(c_error) :: error
    type(c_ptr) :: made
    integer(c_int) :: code

    made = c_null_ptr
    code = c_surrogate_load_spec(session%handle, trim(path)//c_null_char, int(value_or(threads, 0), c_int32_t), made, error)
    call hold(self, code, made)
    call conclude(code, error, stat, errmsg)
  end subroutine surrogate_load_spec

  ! From the text of such a file.
  subroutine surrogate_parse_spec(self, session, text, threads, stat, errmsg)
    class(zygos_surrogate), intent(inout) :: self
    class(zygos_session), intent(in) :: session
    character(*), intent(in) :: text
    integer, intent(in), optional :: threads
    integer, intent(out), optional :: stat
    character(*), intent(inout), optional :: errmsg
    type(c_error) :: error
    type(c_ptr) :: made
    integer(c_int) :: code

    made = c_null_ptr
    code = c_surrogate_parse_spec(session%handle, text//c_null_char, int(value_or(threads, 0), c_int32_t), made, error)
    call hold(self, code, made)
    call conclude(code, error, stat, errmsg)
  end subroutine surrogate_parse_spec

  ! Replaces what the surrogate holds if there is something new.
  subroutine hold(surrogate, code, made)
    class(zygos_surrogate), intent(inout) :: surrogate
    integer(c_int), intent(in) :: code
    type(c_ptr), intent(in) :: made

    if (code /= code_ok) return
    call surrogate%free()
    surrogate%handle = made
  end subroutine hold

  subroutine surrogate_free(self)
    class(zygos_surrogate), intent(inout) :: self

    call c_surrogate_free(self%handle)
    self%handle = c_null_ptr
  end subroutine surrogate_free

  impure elemental subroutine surrogate_final(self)
    type(zygos_surrogate), intent(inout) :: self

    call self%free()
  end subroutine surrogate_final

  ! Two handles of one surrogate would free it twice.
  impure elemental subroutine surrogate_from(self, other)
    class(zygos_surrogate), intent(inout) :: self
    type(zygos_surrogate), intent(in) :: other
    type(c_error) :: error
    integer(c_int) :: code

    if (c_associated(self%handle, other%handle)) return
    code = refused(error, code_usage, 'a surrogate is not copied by assignment; create another one and use save and restore')
    call conclude(code, error)
  end subroutine surrogate_from

  ! ---------------------------------------------------------------------- arrays of every kind

  subroutine add_any(self, inputs, targets, stat, errmsg)
    class(zygos_surrogate), intent(inout) :: self
    type(*), intent(in) :: inputs(..), targets(..)
    integer, intent(out), optional :: stat
    character(*), intent(inout), optional :: errmsg
    type(c_array) :: arrays(2)
    type(c_error) :: error
    integer(c_int) :: code

    code = c_array_of(inputs, arrays(1), error)
    if (code == code_ok) code = c_array_of(targets, arrays(2), error)
    if (code == code_ok) code = c_surrogate_add(self%handle, arrays(1:1), 1_c_int32_t, arrays(2:2), 1_c_int32_t, error)
    call conclude(code, error, stat, errmsg)
  end subroutine add_any

  subroutine add_44(self, inputs, targets, stat, errmsg)
    class(zygos_surrogate), intent(inout) :: self
    real(real32), intent(in) :: inputs(..)
    real(real32), intent(in) :: targets(..)
    integer, intent(out), optional :: stat
    character(*), intent(inout), optional :: errmsg

    call add_any(self, inputs, targets, stat, errmsg)
  end subroutine add_44

  subroutine add_48(self, inputs, targets, stat, errmsg)
    class(zygos_surrogate), intent(inout) :: self
    real(real32), intent(in) :: inputs(..)
    real(real64), intent(in) :: targets(..)
    integer, intent(out), optional :: stat
    character(*), intent(inout), optional :: errmsg

    call add_any(self, inputs, targets, stat, errmsg)
  end subroutine add_48

  subroutine add_84(self, inputs, targets, stat, errmsg)
    class(zygos_surrogate), intent(inout) :: self
    real(real64), intent(in) :: inputs(..)
    real(real32), intent(in) :: targets(..)
    integer, intent(out), optional :: stat
    character(*), intent(inout), optional :: errmsg

    call add_any(self, inputs, targets, stat, errmsg)
  end subroutine add_84

  subroutine add_88(self, inputs, targets, stat, errmsg)
    class(zygos_surrogate), intent(inout) :: self
    real(real64), intent(in) :: inputs(..)
    real(real64), intent(in) :: targets(..)
    integer, intent(out), optional :: stat
    character(*), intent(inout), optional :: errmsg

    call add_any(self, inputs, targets, stat, errmsg)
  end subroutine add_88

  subroutine add_views_4(self, inputs, targets, stat, errmsg)
    class(zygos_surrogate), intent(inout) :: self
    type(zygos_array), intent(in) :: inputs(:)
    real(real32), intent(in) :: targets(..)
    integer, intent(out), optional :: stat
    character(*), intent(inout), optional :: errmsg
    type(zygos_array) :: one(1)
    type(c_error) :: error
    integer(c_int) :: code

    code = c_array_of(targets, one(1)%c, error)
    if (code == code_ok) then
      call self%add(inputs, one, stat, errmsg)
    else
      call conclude(code, error, stat, errmsg)
    end if
  end subroutine add_views_4

  subroutine add_views_8(self, inputs, targets, stat, errmsg)
    class(zygos_surrogate), intent(inout) :: self
    type(zygos_array), intent(in) :: inputs(:)
    real(real64), intent(in) :: targets(..)
    integer, intent(out), optional :: stat
    character(*), intent(inout), optional :: errmsg
    type(zygos_array) :: one(1)
    type(c_error) :: error
    integer(c_int) :: code

    code = c_array_of(targets, one(1)%c, error)
    if (code == code_ok) then
      call self%add(inputs, one, stat, errmsg)
    else
      call conclude(code, error, stat, errmsg)
    end if
  end subroutine add_views_8

  subroutine add_views(self, inputs, targets, stat, errmsg)
    class(zygos_surrogate), intent(inout) :: self
    type(zygos_array), intent(in) :: inputs(:), targets(:)
    integer, intent(out), optional :: stat
    character(*), intent(inout), optional :: errmsg
    type(c_error) :: error
    integer(c_int) :: code

    code = c_surrogate_add(self%handle, inputs%c, int(size(inputs), c_int32_t), targets%c, &
                        int(size(targets), c_int32_t), error)
    call conclude(code, error, stat, errmsg)
  end subroutine add_views

  subroutine predict_any(self, inputs, outputs, stat, errmsg)
    class(zygos_surrogate), intent(inout) :: self
    type(*), intent(in) :: inputs(..)
    type(*), intent(inout) :: outputs(..)
    integer, intent(out), optional :: stat
    character(*), intent(inout), optional :: errmsg
    type(c_array) :: arrays(2)
    type(c_error) :: error
    integer(c_int) :: code

    code = c_array_of(inputs, arrays(1), error)
    if (code == code_ok) code = c_array_of(outputs, arrays(2), error)
    if (code == code_ok) code = c_surrogate_predict(self%handle, arrays(1:1), 1_c_int32_t, arrays(2:2), 1_c_int32_t, error)
    call conclude(code, error, stat, errmsg)
  end subroutine predict_any

  subroutine predict_44(self, inputs, outputs, stat, errmsg)
    class(zygos_surrogate), intent(inout) :: self
    real(real32), intent(in) :: inputs(..)
    real(real32), intent(inout) :: outputs(..)
    integer, intent(out), optional :: stat
    character(*), intent(inout), optional :: errmsg

    call predict_any(self, inputs, outputs, stat, errmsg)
  end subroutine predict_44

  subroutine predict_48(self, inputs, outputs, stat, errmsg)
    class(zygos_surrogate), intent(inout) :: self
    real(real32), intent(in) :: inputs(..)
    real(real64), intent(inout) :: outputs(..)
    integer, intent(out), optional :: stat
    character(*), intent(inout), optional :: errmsg

    call predict_any(self, inputs, outputs, stat, errmsg)
  end subroutine predict_48

  subroutine predict_84(self, inputs, outputs, stat, errmsg)
    class(zygos_surrogate), intent(inout) :: self
    real(real64), intent(in) :: inputs(..)
    real(real32), intent(inout) :: outputs(..)
    integer, intent(out), optional :: stat
    character(*), intent(inout), optional :: errmsg

    call predict_any(self, inputs, outputs, stat, errmsg)
  end subroutine predict_84

  subroutine predict_88(self, inputs, outputs, stat, errmsg)
    class(zygos_surrogate), intent(inout) :: self
    real(real64), intent(in) :: inputs(..)
    real(real64), intent(inout) :: outputs(..)
    integer, intent(out), optional :: stat
    character(*), intent(inout), optional :: errmsg

    call predict_any(self, inputs, outputs, stat, errmsg)
  end subroutine predict_88

  subroutine predict_views_4(self, inputs, outputs, stat, errmsg)
    class(zygos_surrogate), intent(inout) :: self
    type(zygos_array), intent(in) :: inputs(:)
    real(real32), intent(inout) :: outputs(..)
    integer, intent(out), optional :: stat
    character(*), intent(inout), optional :: errmsg
    type(zygos_array) :: one(1)
    type(c_error) :: error
    integer(c_int) :: code

    code = c_array_of(outputs, one(1)%c, error)
    if (code == code_ok) then
      call self%predict(inputs, one, stat, errmsg)
    else
      call conclude(code, error, stat, errmsg)
    end if
  end subroutine predict_views_4

  subroutine predict_views_8(self, inputs, outputs, stat, errmsg)
    class(zygos_surrogate), intent(inout) :: self
    type(zygos_array), intent(in) :: inputs(:)
    real(real64), intent(inout) :: outputs(..)
    integer, intent(out), optional :: stat
    character(*), intent(inout), optional :: errmsg
    type(zygos_array) :: one(1)
    type(c_error) :: error
    integer(c_int) :: code

    code = c_array_of(outputs, one(1)%c, error)
    if (code == code_ok) then
      call self%predict(inputs, one, stat, errmsg)
    else
      call conclude(code, error, stat, errmsg)
    end if
  end subroutine predict_views_8

  subroutine predict_views(self, inputs, outputs, stat, errmsg)
    class(zygos_surrogate), intent(inout) :: self
    type(zygos_array), intent(in) :: inputs(:), outputs(:)
    integer, intent(out), optional :: stat
    character(*), intent(inout), optional :: errmsg
    type(c_error) :: error
    integer(c_int) :: code

    code = c_surrogate_predict(self%handle, inputs%c, int(size(inputs), c_int32_t), outputs%c, &
                            int(size(outputs), c_int32_t), error)
    call conclude(code, error, stat, errmsg)
  end subroutine predict_views

  subroutine predict_spread_any(self, inputs, outputs, spread, stat, errmsg)
    class(zygos_surrogate), intent(inout) :: self
    type(*), intent(in) :: inputs(..)
    type(*), intent(inout) :: outputs(..), spread(..)
    integer, intent(out), optional :: stat
    character(*), intent(inout), optional :: errmsg
    type(zygos_array) :: arrays(3)
    type(c_error) :: error
    integer(c_int) :: code

    code = c_array_of(inputs, arrays(1)%c, error)
    if (code == code_ok) code = c_array_of(outputs, arrays(2)%c, error)
    if (code == code_ok) code = c_array_of(spread, arrays(3)%c, error)
    if (code == code_ok) then
      call self%predict_spread(arrays(1:1), arrays(2:2), arrays(3), stat, errmsg)
    else
      call conclude(code, error, stat, errmsg)
    end if
  end subroutine predict_spread_any

  subroutine predict_spread_4(self, inputs, outputs, spread, stat, errmsg)
    class(zygos_surrogate), intent(inout) :: self
    real(real32), intent(in) :: inputs(..)
    real(real32), intent(inout) :: outputs(..), spread(..)
    integer, intent(out), optional :: stat
    character(*), intent(inout), optional :: errmsg

    call predict_spread_any(self, inputs, outputs, spread, stat, errmsg)
  end subroutine predict_spread_4

  subroutine predict_spread_8(self, inputs, outputs, spread, stat, errmsg)
    class(zygos_surrogate), intent(inout) :: self
    real(real64), intent(in) :: inputs(..)
    real(real64), intent(inout) :: outputs(..), spread(..)
    integer, intent(out), optional :: stat
    character(*), intent(inout), optional :: errmsg

    call predict_spread_any(self, inputs, outputs, spread, stat, errmsg)
  end subroutine predict_spread_8

  subroutine predict_spread_views(self, inputs, outputs, spread, stat, errmsg)
    class(zygos_surrogate), intent(inout) :: self
    type(zygos_array), intent(in) :: inputs(:), outputs(:), spread
    integer, intent(out), optional :: stat
    character(*), intent(inout), optional :: errmsg
    type(c_error) :: error
    integer(c_int) :: code

    code = c_surrogate_predict_spread(self%handle, inputs%c, int(size(inputs), c_int32_t), outputs%c, &
                                      int(size(outputs), c_int32_t), spread%c, error)
    call conclude(code, error, stat, errmsg)
  end subroutine predict_spread_views
end module zygos_surrogates
