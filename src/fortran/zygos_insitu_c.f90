! SPDX-FileCopyrightText: 2026 The Zygos authors
! SPDX-License-Identifier: Apache-2.0
!
! The C interface, include/zygos/zygos_insitu.h, as Fortran sees it. Programs use the module zygos.
module zygos_insitu_c
  use, intrinsic :: iso_c_binding
  use zygos_c
  implicit none
  public

  type, bind(c) :: c_surrogate_options
    integer(c_int64_t) :: inputs = 0
    integer(c_int64_t) :: outputs = 0
    type(c_ptr) :: hidden = c_null_ptr
    integer(c_int32_t) :: hidden_count = 0
    integer(c_int32_t) :: activation = 0
    real(c_double) :: learning_rate = 0
    integer(c_int64_t) :: batch = 0
    integer(c_int64_t) :: min_samples = 0
    integer(c_int64_t) :: block = 0
    integer(c_int32_t) :: precision = 0
    integer(c_int32_t) :: own_units = 0
    integer(c_int64_t) :: seed = 0
    integer(c_int64_t) :: capacity = 0
    integer(c_int64_t) :: validate_every = 0
    integer(c_int32_t) :: keep = 0
    integer(c_int32_t) :: stored = 0
    integer(c_int32_t) :: threads = 0
    integer(c_int32_t) :: members = 0
  end type c_surrogate_options

  type, bind(c) :: c_training
    integer(c_int64_t) :: steps = 0
    integer(c_int64_t) :: refused = 0
    real(c_double) :: loss = 0
    real(c_double) :: seconds = 0
    real(c_double) :: step_seconds = 0
    integer(c_int32_t) :: rolled_back = 0
    integer(c_int32_t) :: restandardised = 0
  end type c_training

  type, bind(c) :: c_validation
    integer(c_int64_t) :: samples = 0
    real(c_double) :: loss = 0
    real(c_double) :: relative_error = 0
  end type c_validation

  type, bind(c) :: c_surrogate_info
    integer(c_int32_t) :: input_rank = 0
    integer(c_int32_t) :: output_rank = 0
    integer(c_int64_t) :: input(zygos_max_rank) = 0
    integer(c_int64_t) :: output(zygos_max_rank) = 0
    integer(c_int32_t) :: precision = 0
    integer(c_int32_t) :: threads = 0
    integer(c_int64_t) :: steps = 0
    integer(c_int64_t) :: steps_refused = 0
    integer(c_int64_t) :: samples_seen = 0
    integer(c_int64_t) :: samples_refused = 0
    integer(c_int64_t) :: training = 0
    integer(c_int64_t) :: validation = 0
    integer(c_int64_t) :: bytes = 0
    integer(c_int64_t) :: members = 0
  end type c_surrogate_info

  interface
    integer(c_int) function c_surrogate_create(session, options, surrogate, error) bind(c, name='zygos_surrogate_create')
      import
      type(c_ptr), value :: session
      type(c_surrogate_options), intent(in) :: options
      type(c_ptr), intent(inout) :: surrogate
      type(c_error), intent(inout) :: error
    end function c_surrogate_create

    integer(c_int) function c_surrogate_load_spec(session, path, threads, surrogate, error) &
        bind(c, name='zygos_surrogate_load_spec')
      import
      type(c_ptr), value :: session
      character(kind=c_char), intent(in) :: path(*)
      integer(c_int32_t), value :: threads
      type(c_ptr), intent(inout) :: surrogate
      type(c_error), intent(inout) :: error
    end function c_surrogate_load_spec

    integer(c_int) function c_surrogate_parse_spec(session, text, threads, surrogate, error) &
        bind(c, name='zygos_surrogate_parse_spec')
      import
      type(c_ptr), value :: session
      character(kind=c_char), intent(in) :: text(*)
      integer(c_int32_t), value :: threads
      type(c_ptr), intent(inout) :: surrogate
      type(c_error), intent(inout) :: error
    end function c_surrogate_parse_spec

    subroutine c_surrogate_free(surrogate) bind(c, name='zygos_surrogate_free')
      import
      type(c_ptr), value :: surrogate
    end subroutine c_surrogate_free

    integer(c_int) function c_surrogate_add(surrogate, inputs, inputs_count, targets, targets_count, error) &
        bind(c, name='zygos_surrogate_add')
      import
      type(c_ptr), value :: surrogate
      type(c_array), intent(in) :: inputs(*), targets(*)
      integer(c_int32_t), value :: inputs_count, targets_count
      type(c_error), intent(inout) :: error
    end function c_surrogate_add

    integer(c_int) function c_surrogate_train(surrogate, budget_seconds, max_steps, training, error) &
        bind(c, name='zygos_surrogate_train')
      import
      type(c_ptr), value :: surrogate
      real(c_double), value :: budget_seconds
      integer(c_int64_t), value :: max_steps
      type(c_training), intent(inout) :: training
      type(c_error), intent(inout) :: error
    end function c_surrogate_train

    integer(c_int) function c_surrogate_validate(surrogate, validation, root_mean_squares, count, error) &
        bind(c, name='zygos_surrogate_validate')
      import
      type(c_ptr), value :: surrogate
      type(c_validation), intent(inout) :: validation
      real(c_double), intent(inout), optional :: root_mean_squares(*)
      integer(c_int64_t), value :: count
      type(c_error), intent(inout) :: error
    end function c_surrogate_validate

    integer(c_int) function c_surrogate_predict(surrogate, inputs, inputs_count, outputs, outputs_count, error) &
        bind(c, name='zygos_surrogate_predict')
      import
      type(c_ptr), value :: surrogate
      type(c_array), intent(in) :: inputs(*), outputs(*)
      integer(c_int32_t), value :: inputs_count, outputs_count
      type(c_error), intent(inout) :: error
    end function c_surrogate_predict

    integer(c_int) function c_surrogate_predict_spread(surrogate, inputs, inputs_count, outputs, outputs_count, spread, error) &
        bind(c, name='zygos_surrogate_predict_spread')
      import
      type(c_ptr), value :: surrogate
      type(c_array), intent(in) :: inputs(*), outputs(*), spread
      integer(c_int32_t), value :: inputs_count, outputs_count
      type(c_error), intent(inout) :: error
    end function c_surrogate_predict_spread

    integer(c_int) function c_surrogate_rollback(surrogate, error) bind(c, name='zygos_surrogate_rollback')
      import
      type(c_ptr), value :: surrogate
      type(c_error), intent(inout) :: error
    end function c_surrogate_rollback

    integer(c_int) function c_surrogate_state_bytes(surrogate, bytes, error) bind(c, name='zygos_surrogate_state_bytes')
      import
      type(c_ptr), value :: surrogate
      integer(c_int64_t), intent(inout) :: bytes
      type(c_error), intent(inout) :: error
    end function c_surrogate_state_bytes

    integer(c_int) function c_surrogate_save_state(surrogate, buffer, size, error) &
        bind(c, name='zygos_surrogate_save_state')
      import
      type(c_ptr), value :: surrogate
      integer(c_int8_t), intent(inout) :: buffer(*)
      integer(c_int64_t), value :: size
      type(c_error), intent(inout) :: error
    end function c_surrogate_save_state

    integer(c_int) function c_surrogate_restore_state(surrogate, buffer, size, error) &
        bind(c, name='zygos_surrogate_restore_state')
      import
      type(c_ptr), value :: surrogate
      integer(c_int8_t), intent(in) :: buffer(*)
      integer(c_int64_t), value :: size
      type(c_error), intent(inout) :: error
    end function c_surrogate_restore_state

    integer(c_int) function c_surrogate_get_info(surrogate, info, error) bind(c, name='zygos_surrogate_get_info')
      import
      type(c_ptr), value :: surrogate
      type(c_surrogate_info), intent(inout) :: info
      type(c_error), intent(inout) :: error
    end function c_surrogate_get_info
  end interface
end module zygos_insitu_c
