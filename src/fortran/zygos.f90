! SPDX-FileCopyrightText: 2026 The Zygos authors
! SPDX-License-Identifier: Apache-2.0
!
! Inference from Fortran: a trained network predicts on arrays of the caller, sections included,
! without a copy of them. Training inside a simulation: zygos_surrogates.f90.
!
!   use zygos
!   type(zygos_session) :: session
!   type(zygos_model) :: model
!
!   call session%initialize()
!   call model%load(session, 'runs/surrogate')
!   call model%predict(tensors, invariants)          ! real tensors(6, cells), invariants(3, cells)
!   call model%free()
!   call session%finalize()
!
! The last dimension counts samples. Dimensions of samples and weights are those of the deck in
! reverse order: images of (1, 28, 28) are x(28, 28, 1, n), or x(784, n).
!
! stat and errmsg are those of allocate(): stat is 0, or a zygos_error_* code, and errmsg changes in
! case of an error only. Without stat, an error ends the program with its message.
!
! Threads, lifetimes and what the values mean: include/zygos/zygos.h.
module zygos
  use, intrinsic :: iso_c_binding
  use, intrinsic :: iso_fortran_env, only: real32, real64
  use zygos_arrays
  use zygos_c
  use zygos_queries
  use zygos_sessions
  use zygos_support
  use zygos_surrogates
  implicit none
  private

  public :: zygos_session, zygos_array, zygos_weight, zygos_view
  public :: zygos_surrogate, zygos_training, zygos_surrogate_info

  integer, parameter, public :: zygos_ok = 0
  integer, parameter, public :: zygos_error_bug = 1
  integer, parameter, public :: zygos_error_usage = 2
  integer, parameter, public :: zygos_error_data = 3
  integer, parameter, public :: zygos_error_checkpoint = 4
  integer, parameter, public :: zygos_error_io = 5
  integer, parameter, public :: zygos_error_memory = 6
  integer, parameter, public :: zygos_error_numeric = 7

  ! What a model computes in.
  integer, parameter, public :: zygos_float32 = 1
  integer, parameter, public :: zygos_float64 = 2
  integer, parameter, public :: zygos_bfloat16 = 3

  ! Frees itself at the end of its scope. `a = b` makes a share b, as `call b%share(a)` does.
  type, extends(zygos_handle), public :: zygos_model
  contains
    procedure :: load => model_load
    procedure :: create => model_create
    procedure :: share => model_share
    procedure :: free => model_free
    procedure :: prepare => model_prepare
    procedure :: assign => model_assign
    procedure :: reload => model_reload
    ! predict(input, output): real32 or real64 each, of 1 to 7 dimensions; or ([inputs], output) of
    ! zygos_view()s for a sample in several pieces. With stream, a cudaStream_t, both are in device
    ! memory.
    generic :: predict => predict_44, predict_48, predict_84, predict_88, predict_views_4, predict_views_8
    generic :: assignment(=) => model_from
    procedure, private :: model_from
    procedure, private :: predict_44, predict_48, predict_84, predict_88, predict_views_4, predict_views_8
    final :: model_final
  end type zygos_model

contains

  ! ------------------------------------------------------------------------------------- models

  ! path, best, precision, block and threads: zygos_load() and zygos_options of the C interface.
  subroutine model_load(self, session, path, best, precision, block, threads, stat, errmsg)
    class(zygos_model), intent(inout) :: self
    class(zygos_session), intent(in) :: session
    character(*), intent(in) :: path
    logical, intent(in), optional :: best
    integer, intent(in), optional :: precision, block, threads
        integer, intent(out), optional :: stat
    character(*), intent(inout), optional :: errmsg
    type(c_error) :: error
    type(c_ptr) :: made
    integer(c_int) :: code

    made = c_null_ptr
    code = c_load(session%handle, trim(path)//c_null_char, options_of(best, precision, block, threads), made, error)
    call hold(self, code, made)
    call conclude(code, error, stat, errmsg)
  end subroutine model_load

  ! A model without files: the text of a deck, the dimensions of a sample, and all weights.
  subroutine model_create(self, session, deck, sample, weights, precision, block, threads, stat, errmsg)
    class(zygos_model), intent(inout) :: self
    class(zygos_session), intent(in) :: session
    character(*), intent(in) :: deck
    integer, intent(in) :: sample(:)
    type(zygos_weight), intent(in) :: weights(:)
    integer, intent(in), optional :: precision, block, threads
        integer, intent(out), optional :: stat
    character(*), intent(inout), optional :: errmsg
    character(kind=c_char), allocatable, target :: names(:)
    character(kind=c_char), target :: text(len(deck) + 1)
    type(c_weight), target :: list(max(size(weights), 1))
    type(c_network) :: network
    type(c_error) :: error
    type(c_ptr) :: made
    integer(c_int) :: code

    made = c_null_ptr
    text = characters_of(deck)
    call list_weights(weights, names, list)
    network%deck = c_loc(text)
    network%rank = int(size(sample), c_int32_t)
    network%dimensions(:min(size(sample), zygos_max_rank)) = sample(min(size(sample), zygos_max_rank):1:-1)
    network%weights = c_loc(list)
    network%weights_count = int(size(weights), c_int32_t)
    code = c_create(session%handle, network, options_of(precision=precision, block=block, threads=threads), made, error)
    call hold(self, code, made)
    call conclude(code, error, stat, errmsg)
  end subroutine model_create

  ! Another model of the same weights, for another thread.
  subroutine model_share(self, shared, threads, stat, errmsg)
    class(zygos_model), intent(in) :: self
    type(zygos_model), intent(inout) :: shared
    integer, intent(in), optional :: threads
    integer, intent(out), optional :: stat
    character(*), intent(inout), optional :: errmsg
    type(c_error) :: error
    type(c_ptr) :: made
    integer(c_int) :: code

    made = c_null_ptr
    code = c_share(self%handle, int(value_or(threads, 0), c_int32_t), made, error)
    call hold(shared, code, made)
    call conclude(code, error, stat, errmsg)
  end subroutine model_share

  impure elemental subroutine model_from(self, other)
    class(zygos_model), intent(inout) :: self
    type(zygos_model), intent(in) :: other

    if (c_associated(self%handle, other%handle)) return
    if (.not. c_associated(other%handle)) then
      call self%free()
      return
    end if
    select type (self)
    type is (zygos_model)
      call other%share(self)
    end select
  end subroutine model_from

  subroutine model_free(self)
    class(zygos_model), intent(inout) :: self

    call c_free(self%handle)
    self%handle = c_null_ptr
  end subroutine model_free

  impure elemental subroutine model_final(self)
    type(zygos_model), intent(inout) :: self

    call self%free()
  end subroutine model_final

  ! Replaces what the model holds if there is something new.
  subroutine hold(model, code, made)
    class(zygos_model), intent(inout) :: model
    integer(c_int), intent(in) :: code
    type(c_ptr), intent(in) :: made

    if (code /= zygos_ok) return
    call model%free()
    model%handle = made
  end subroutine hold

  ! Allocates now what predictions of up to so many samples need.
  subroutine model_prepare(self, samples, stat, errmsg)
    class(zygos_model), intent(inout) :: self
    integer, intent(in) :: samples
    integer, intent(out), optional :: stat
    character(*), intent(inout), optional :: errmsg
    type(c_error) :: error
    integer(c_int) :: code

    code = c_prepare(self%handle, int(samples, c_int64_t), error)
    call conclude(code, error, stat, errmsg)
  end subroutine model_prepare

  ! New weights, all of them, for this model and those that share them.
  subroutine model_assign(self, weights, stat, errmsg)
    class(zygos_model), intent(in) :: self
    type(zygos_weight), intent(in) :: weights(:)
    integer, intent(out), optional :: stat
    character(*), intent(inout), optional :: errmsg
    character(kind=c_char), allocatable, target :: names(:)
    type(c_weight), target :: list(max(size(weights), 1))
    type(c_error) :: error
    integer(c_int) :: code

    call list_weights(weights, names, list)
    code = c_assign(self%handle, list, int(size(weights), c_int32_t), error)
    call conclude(code, error, stat, errmsg)
  end subroutine model_assign

  ! The same from a checkpoint: of a run that is still training, say.
  subroutine model_reload(self, path, best, stat, errmsg)
    class(zygos_model), intent(in) :: self
    character(*), intent(in) :: path
    logical, intent(in), optional :: best
    integer, intent(out), optional :: stat
    character(*), intent(inout), optional :: errmsg
    type(c_error) :: error
    integer(c_int) :: code

    code = c_reload(self%handle, trim(path)//c_null_char, flag_of(best), error)
    call conclude(code, error, stat, errmsg)
  end subroutine model_reload

  ! -------------------------------------------------------------------------------- predictions

  integer(c_int) function predicted(model, inputs, output, stream, error) result(code)
    class(zygos_model), intent(in) :: model
    type(c_array), intent(in) :: inputs(:)
    type(c_array), intent(in) :: output
    type(c_ptr), intent(in), optional :: stream
    type(c_error), intent(inout) :: error

    if (present(stream)) then
      code = c_predict_on_stream(model%handle, stream, inputs, int(size(inputs), c_int32_t), output, error)
    else
      code = c_predict(model%handle, inputs, int(size(inputs), c_int32_t), output, error)
    end if
  end function predicted

  subroutine predict_44(self, input, output, stream, stat, errmsg)
    class(zygos_model), intent(inout) :: self
    real(real32), intent(in) :: input(..)
    real(real32), intent(inout) :: output(..)
    type(c_ptr), intent(in), optional :: stream
    integer, intent(out), optional :: stat
    character(*), intent(inout), optional :: errmsg
    type(c_array) :: arrays(2)
    type(c_error) :: error
    integer(c_int) :: code

    code = c_array_of(input, arrays(1), error)
    if (code == zygos_ok) code = c_array_of(output, arrays(2), error)
    if (code == zygos_ok) code = predicted(self, arrays(1:1), arrays(2), stream, error)
    call conclude(code, error, stat, errmsg)
  end subroutine predict_44

  subroutine predict_48(self, input, output, stream, stat, errmsg)
    class(zygos_model), intent(inout) :: self
    real(real32), intent(in) :: input(..)
    real(real64), intent(inout) :: output(..)
    type(c_ptr), intent(in), optional :: stream
    integer, intent(out), optional :: stat
    character(*), intent(inout), optional :: errmsg
    type(c_array) :: arrays(2)
    type(c_error) :: error
    integer(c_int) :: code

    code = c_array_of(input, arrays(1), error)
    if (code == zygos_ok) code = c_array_of(output, arrays(2), error)
    if (code == zygos_ok) code = predicted(self, arrays(1:1), arrays(2), stream, error)
    call conclude(code, error, stat, errmsg)
  end subroutine predict_48

  subroutine predict_84(self, input, output, stream, stat, errmsg)
    class(zygos_model), intent(inout) :: self
    real(real64), intent(in) :: input(..)
    real(real32), intent(inout) :: output(..)
    type(c_ptr), intent(in), optional :: stream
    integer, intent(out), optional :: stat
    character(*), intent(inout), optional :: errmsg
    type(c_array) :: arrays(2)
    type(c_error) :: error
    integer(c_int) :: code

    code = c_array_of(input, arrays(1), error)
    if (code == zygos_ok) code = c_array_of(output, arrays(2), error)
    if (code == zygos_ok) code = predicted(self, arrays(1:1), arrays(2), stream, error)
    call conclude(code, error, stat, errmsg)
  end subroutine predict_84

  subroutine predict_88(self, input, output, stream, stat, errmsg)
    class(zygos_model), intent(inout) :: self
    real(real64), intent(in) :: input(..)
    real(real64), intent(inout) :: output(..)
    type(c_ptr), intent(in), optional :: stream
    integer, intent(out), optional :: stat
    character(*), intent(inout), optional :: errmsg
    type(c_array) :: arrays(2)
    type(c_error) :: error
    integer(c_int) :: code

    code = c_array_of(input, arrays(1), error)
    if (code == zygos_ok) code = c_array_of(output, arrays(2), error)
    if (code == zygos_ok) code = predicted(self, arrays(1:1), arrays(2), stream, error)
    call conclude(code, error, stat, errmsg)
  end subroutine predict_88

  subroutine predict_views_4(self, inputs, output, stream, stat, errmsg)
    class(zygos_model), intent(inout) :: self
    type(zygos_array), intent(in) :: inputs(:)
    real(real32), intent(inout) :: output(..)
    type(c_ptr), intent(in), optional :: stream
    integer, intent(out), optional :: stat
    character(*), intent(inout), optional :: errmsg
    type(c_array) :: array
    type(c_error) :: error
    integer(c_int) :: code

    code = c_array_of(output, array, error)
    if (code == zygos_ok) code = predicted(self, inputs%c, array, stream, error)
    call conclude(code, error, stat, errmsg)
  end subroutine predict_views_4

  subroutine predict_views_8(self, inputs, output, stream, stat, errmsg)
    class(zygos_model), intent(inout) :: self
    type(zygos_array), intent(in) :: inputs(:)
    real(real64), intent(inout) :: output(..)
    type(c_ptr), intent(in), optional :: stream
    integer, intent(out), optional :: stat
    character(*), intent(inout), optional :: errmsg
    type(c_array) :: array
    type(c_error) :: error
    integer(c_int) :: code

    code = c_array_of(output, array, error)
    if (code == zygos_ok) code = predicted(self, inputs%c, array, stream, error)
    call conclude(code, error, stat, errmsg)
  end subroutine predict_views_8
end module zygos
