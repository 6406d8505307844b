! SPDX-FileCopyrightText: 2026 The Zygos authors
! SPDX-License-Identifier: Apache-2.0
!
! What a surrogate does that no array of samples is needed for. Programs use the module zygos.
module zygos_learners
  use, intrinsic :: iso_c_binding
  use, intrinsic :: iso_fortran_env, only: int8, int64, real64
  use zygos_c
  use zygos_insitu_c
  use zygos_support
  implicit none
  private
  public :: zygos_learner, zygos_training, zygos_surrogate_info

  ! What a call of train() did.
  type :: zygos_training
    integer(int64) :: steps = 0, refused = 0
    real(real64) :: loss = 0, seconds = 0, step_seconds = 0
    logical :: rolled_back = .false., restandardised = .false.
  end type zygos_training

  type :: zygos_surrogate_info
    integer :: precision = 0, threads = 0
    integer(int64) :: steps = 0, steps_refused = 0, samples_seen = 0, samples_refused = 0
    integer(int64) :: training = 0, validation = 0, bytes = 0, members = 0
  end type zygos_surrogate_info

  type :: zygos_learner
    type(c_ptr) :: handle = c_null_ptr
  contains
    procedure :: is_created
    procedure :: train => learner_train
    procedure :: validate => learner_validate
    procedure :: rollback => learner_rollback
    procedure :: save => learner_save
    procedure :: restore => learner_restore
    procedure :: info => learner_info
    procedure :: input_shape
    procedure :: output_shape
  end type zygos_learner

contains

  pure logical function is_created(self)
    class(zygos_learner), intent(in) :: self

    is_created = c_associated(self%handle)
  end function is_created

  ! ------------------------------------------------------------------------------------ learning

  ! budget: seconds of wall time. Without both: what an input file says.
  subroutine learner_train(self, budget, max_steps, training, stat, errmsg)
    class(zygos_learner), intent(inout) :: self
    real(real64), intent(in), optional :: budget
    integer, intent(in), optional :: max_steps
    type(zygos_training), intent(inout), optional :: training
    integer, intent(out), optional :: stat
    character(*), intent(inout), optional :: errmsg
    type(c_training) :: made
    type(c_error) :: error
    integer(c_int) :: code
    real(c_double) :: seconds

    seconds = 0
    if (present(budget)) seconds = budget
    code = c_surrogate_train(self%handle, seconds, int(value_or(max_steps, 0), c_int64_t), made, error)
    if (present(training) .and. code == code_ok) &
      training = zygos_training(made%steps, made%refused, made%loss, made%seconds, made%step_seconds, &
                                made%rolled_back /= 0, made%restandardised /= 0)
    call conclude(code, error, stat, errmsg)
  end subroutine learner_train

  ! On samples that were held out. root_mean_squares: of each output, in its own unit.
  subroutine learner_validate(self, relative_error, loss, samples, root_mean_squares, stat, errmsg)
    class(zygos_learner), intent(inout) :: self
    real(real64), intent(inout), optional :: relative_error, loss, root_mean_squares(:)
    integer(int64), intent(inout), optional :: samples
    integer, intent(out), optional :: stat
    character(*), intent(inout), optional :: errmsg
    type(c_validation) :: found
    type(c_error) :: error
    integer(c_int) :: code

    if (present(root_mean_squares)) then
      code = c_surrogate_validate(self%handle, found, root_mean_squares, size(root_mean_squares, kind=c_int64_t), error)
    else
      code = c_surrogate_validate(self%handle, found, count=0_c_int64_t, error=error)
    end if
    if (code == code_ok) then
      if (present(relative_error)) relative_error = found%relative_error
      if (present(loss)) loss = found%loss
      if (present(samples)) samples = found%samples
    end if
    call conclude(code, error, stat, errmsg)
  end subroutine learner_validate

  ! As before the last training.
  subroutine learner_rollback(self, stat, errmsg)
    class(zygos_learner), intent(inout) :: self
    integer, intent(out), optional :: stat
    character(*), intent(inout), optional :: errmsg
    type(c_error) :: error
    integer(c_int) :: code

    code = c_surrogate_rollback(self%handle, error)
    call conclude(code, error, stat, errmsg)
  end subroutine learner_rollback

  ! ------------------------------------------------------------------------------------- restart

  ! Everything that a restart needs.
  subroutine learner_save(self, buffer, stat, errmsg)
    class(zygos_learner), intent(inout) :: self
    integer(int8), allocatable, intent(inout) :: buffer(:)
    integer, intent(out), optional :: stat
    character(*), intent(inout), optional :: errmsg
    integer(int8), allocatable :: bytes(:)
    type(c_error) :: error
    integer(c_int) :: code
    integer(c_int64_t) :: wanted
    integer :: failed

    wanted = 0
    code = c_surrogate_state_bytes(self%handle, wanted, error)
    if (code == code_ok) then
      allocate (bytes(wanted), stat=failed)
      if (failed /= 0) code = refused(error, code_memory, 'the machine has no memory left for the state')
    end if
    if (code == code_ok) code = c_surrogate_save_state(self%handle, bytes, wanted, error)
    if (code == code_ok) call move_alloc(bytes, buffer)
    call conclude(code, error, stat, errmsg)
  end subroutine learner_save

  subroutine learner_restore(self, buffer, stat, errmsg)
    class(zygos_learner), intent(inout) :: self
    integer(int8), intent(in) :: buffer(:)
    integer, intent(out), optional :: stat
    character(*), intent(inout), optional :: errmsg
    type(c_error) :: error
    integer(c_int) :: code

    code = c_surrogate_restore_state(self%handle, buffer, size(buffer, kind=c_int64_t), error)
    call conclude(code, error, stat, errmsg)
  end subroutine learner_restore

  ! Ends the program where there is no surrogate to ask.
  type(c_surrogate_info) function found_info(learner) result(info)
    class(zygos_learner), intent(in) :: learner
    type(c_error) :: error
    integer(c_int) :: code

    code = c_surrogate_get_info(learner%handle, info, error)
    call conclude(code, error)
  end function found_info

  type(zygos_surrogate_info) function learner_info(self) result(info)
    class(zygos_learner), intent(in) :: self
    type(c_surrogate_info) :: found

    found = found_info(self)
    info%precision = int(found%precision)
    info%threads = int(found%threads)
    info%steps = found%steps
    info%steps_refused = found%steps_refused
    info%samples_seen = found%samples_seen
    info%samples_refused = found%samples_refused
    info%training = found%training
    info%validation = found%validation
    info%bytes = found%bytes
    info%members = found%members
  end function learner_info

  ! Of a sample, in the order of Fortran.
  function input_shape(self) result(shape)
    class(zygos_learner), intent(in) :: self
    integer(int64), allocatable :: shape(:)
    type(c_surrogate_info) :: info

    info = found_info(self)
    shape = info%input(info%input_rank:1:-1)
  end function input_shape

  function output_shape(self) result(shape)
    class(zygos_learner), intent(in) :: self
    integer(int64), allocatable :: shape(:)
    type(c_surrogate_info) :: info

    info = found_info(self)
    shape = info%output(info%output_rank:1:-1)
  end function output_shape
end module zygos_learners
