! SPDX-FileCopyrightText: 2026 The Zygos authors
! SPDX-License-Identifier: Apache-2.0
!
! The C interface, include/zygos/zygos.h, as Fortran sees it. Programs use the module zygos.
module zygos_c
  use, intrinsic :: iso_c_binding
  implicit none
  public

  integer, parameter :: zygos_max_rank = 7
  integer, parameter :: zygos_message_length = 1024

  type, bind(c) :: c_error
    integer(c_int32_t) :: code = 0
    character(kind=c_char) :: message(zygos_message_length) = c_null_char
  end type c_error

  type, bind(c) :: c_array
    type(c_ptr) :: data = c_null_ptr
    integer(c_int32_t) :: type = 0
    integer(c_int32_t) :: rank = 0
    integer(c_int64_t) :: dimensions(zygos_max_rank) = 0
    integer(c_int64_t) :: strides(zygos_max_rank) = 0
  end type c_array

  type, bind(c) :: c_weight
    type(c_ptr) :: name = c_null_ptr
    type(c_array) :: values
  end type c_weight

  type, bind(c) :: c_options
    integer(c_int32_t) :: best = 0
    integer(c_int32_t) :: precision = 0
    integer(c_int64_t) :: block = 0
    integer(c_int32_t) :: threads = 0
  end type c_options

  type, bind(c) :: c_network
    type(c_ptr) :: deck = c_null_ptr
    integer(c_int32_t) :: rank = 0
    integer(c_int32_t) :: weights_count = 0
    integer(c_int64_t) :: dimensions(zygos_max_rank) = 0
    type(c_ptr) :: weights = c_null_ptr
  end type c_network

  type, bind(c) :: c_info
    integer(c_int32_t) :: input_rank = 0
    integer(c_int32_t) :: output_rank = 0
    integer(c_int64_t) :: input(zygos_max_rank) = 0
    integer(c_int64_t) :: output(zygos_max_rank) = 0
    integer(c_int32_t) :: precision = 0
    integer(c_int32_t) :: threads = 0
    integer(c_int64_t) :: block = 0
    integer(c_int64_t) :: parameters = 0
    integer(c_int64_t) :: weight_bytes = 0
    integer(c_int64_t) :: workspace_bytes = 0
  end type c_info

  type, bind(c) :: c_parameter
    type(c_ptr) :: name = c_null_ptr
    integer(c_int32_t) :: rank = 0
    integer(c_int64_t) :: dimensions(zygos_max_rank) = 0
  end type c_parameter

  interface
    integer(c_int) function c_initialize(threads, session, error) bind(c, name='zygos_initialize')
      import
      integer(c_int32_t), value :: threads
      type(c_ptr), intent(inout) :: session
      type(c_error), intent(inout) :: error
    end function c_initialize

    integer(c_int) function c_finalize(session, error) bind(c, name='zygos_finalize')
      import
      type(c_ptr), value :: session
      type(c_error), intent(inout) :: error
    end function c_finalize

    pure integer(c_int32_t) function c_threads(session) bind(c, name='zygos_threads')
      import
      type(c_ptr), value, intent(in) :: session
    end function c_threads

    integer(c_int) function c_load(session, path, options, model, error) bind(c, name='zygos_load')
      import
      type(c_ptr), value :: session
      character(kind=c_char), intent(in) :: path(*)
      type(c_options), intent(in) :: options
      type(c_ptr), intent(inout) :: model
      type(c_error), intent(inout) :: error
    end function c_load

    integer(c_int) function c_create(session, network, options, model, error) bind(c, name='zygos_create')
      import
      type(c_ptr), value :: session
      type(c_network), intent(in) :: network
      type(c_options), intent(in) :: options
      type(c_ptr), intent(inout) :: model
      type(c_error), intent(inout) :: error
    end function c_create

    integer(c_int) function c_share(model, threads, shared, error) bind(c, name='zygos_share')
      import
      type(c_ptr), value :: model
      integer(c_int32_t), value :: threads
      type(c_ptr), intent(inout) :: shared
      type(c_error), intent(inout) :: error
    end function c_share

    subroutine c_free(model) bind(c, name='zygos_free')
      import
      type(c_ptr), value :: model
    end subroutine c_free

    integer(c_int) function c_predict(model, inputs, inputs_count, output, error) bind(c, name='zygos_predict')
      import
      type(c_ptr), value :: model
      type(c_array), intent(in) :: inputs(*)
      integer(c_int32_t), value :: inputs_count
      type(c_array), intent(in) :: output
      type(c_error), intent(inout) :: error
    end function c_predict

    integer(c_int) function c_predict_on_stream(model, stream, inputs, inputs_count, output, error) &
        bind(c, name='zygos_predict_on_stream')
      import
      type(c_ptr), value :: model
      type(c_ptr), value :: stream
      type(c_array), intent(in) :: inputs(*)
      integer(c_int32_t), value :: inputs_count
      type(c_array), intent(in) :: output
      type(c_error), intent(inout) :: error
    end function c_predict_on_stream

    integer(c_int) function c_prepare(model, samples, error) bind(c, name='zygos_prepare')
      import
      type(c_ptr), value :: model
      integer(c_int64_t), value :: samples
      type(c_error), intent(inout) :: error
    end function c_prepare

    integer(c_int) function c_assign(model, weights, count, error) bind(c, name='zygos_assign')
      import
      type(c_ptr), value :: model
      type(c_weight), intent(in) :: weights(*)
      integer(c_int32_t), value :: count
      type(c_error), intent(inout) :: error
    end function c_assign

    integer(c_int) function c_reload(model, path, best, error) bind(c, name='zygos_reload')
      import
      type(c_ptr), value :: model
      character(kind=c_char), intent(in) :: path(*)
      integer(c_int32_t), value :: best
      type(c_error), intent(inout) :: error
    end function c_reload

    integer(c_int) function c_get_info(model, info, error) bind(c, name='zygos_get_info')
      import
      type(c_ptr), value :: model
      type(c_info), intent(inout) :: info
      type(c_error), intent(inout) :: error
    end function c_get_info

    integer(c_int) function c_get_parameter(model, index, parameter, error) bind(c, name='zygos_get_parameter')
      import
      type(c_ptr), value :: model
      integer(c_int64_t), value :: index
      type(c_parameter), intent(inout) :: parameter
      type(c_error), intent(inout) :: error
    end function c_get_parameter

    ! descriptor.c: axes in reverse order, no copy.
    integer(c_int) function c_array_of(x, array, error) bind(c, name='zygos_fortran_array')
      import
      type(*) :: x(..)
      type(c_array), intent(inout) :: array
      type(c_error), intent(inout) :: error
    end function c_array_of
  end interface
end module zygos_c
