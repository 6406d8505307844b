! SPDX-FileCopyrightText: 2026 The Zygos authors
! SPDX-License-Identifier: Apache-2.0
!
! What a model can be asked. Programs use the module zygos.
module zygos_queries
  use, intrinsic :: iso_c_binding
  use, intrinsic :: iso_fortran_env, only: int64
  use zygos_c
  use zygos_support
  implicit none
  private
  public :: zygos_handle

  type :: zygos_handle
    type(c_ptr) :: handle = c_null_ptr
  contains
    procedure :: is_loaded
    procedure :: input_shape
    procedure :: output_shape
    procedure :: precision => model_precision
    procedure :: threads => model_threads
    procedure :: block => model_block
    procedure :: weight_bytes
    procedure :: workspace_bytes
    procedure :: parameter_count
    procedure :: parameter_name
    procedure :: parameter_shape
  end type zygos_handle

contains

  pure logical function is_loaded(self)
    class(zygos_handle), intent(in) :: self

    is_loaded = c_associated(self%handle)
  end function is_loaded

  ! Ends the program where there is no model to ask.
  type(c_info) function info_of(model) result(info)
    class(zygos_handle), intent(in) :: model
    type(c_error) :: error
    integer(c_int) :: code

    code = c_get_info(model%handle, info, error)
    call conclude(code, error)
  end function info_of

  ! Of a sample, in the order of Fortran: allocate (x(shape(1), shape(2), n)).
  function input_shape(self) result(shape)
    class(zygos_handle), intent(in) :: self
    integer(int64), allocatable :: shape(:)
    type(c_info) :: info

    info = info_of(self)
    shape = info%input(info%input_rank:1:-1)
  end function input_shape

  function output_shape(self) result(shape)
    class(zygos_handle), intent(in) :: self
    integer(int64), allocatable :: shape(:)
    type(c_info) :: info

    info = info_of(self)
    shape = info%output(info%output_rank:1:-1)
  end function output_shape

  ! zygos_float32, zygos_float64 or zygos_bfloat16.
  integer function model_precision(self)
    class(zygos_handle), intent(in) :: self
    type(c_info) :: info

    info = info_of(self)
    model_precision = int(info%precision)
  end function model_precision

  integer function model_threads(self)
    class(zygos_handle), intent(in) :: self
    type(c_info) :: info

    info = info_of(self)
    model_threads = int(info%threads)
  end function model_threads

  ! Most samples of one pass through the layers.
  integer(int64) function model_block(self)
    class(zygos_handle), intent(in) :: self
    type(c_info) :: info

    info = info_of(self)
    model_block = info%block
  end function model_block

  integer(int64) function weight_bytes(self)
    class(zygos_handle), intent(in) :: self
    type(c_info) :: info

    info = info_of(self)
    weight_bytes = info%weight_bytes
  end function weight_bytes

  integer(int64) function workspace_bytes(self)
    class(zygos_handle), intent(in) :: self
    type(c_info) :: info

    info = info_of(self)
    workspace_bytes = info%workspace_bytes
  end function workspace_bytes

  integer function parameter_count(self)
    class(zygos_handle), intent(in) :: self
    type(c_info) :: info

    info = info_of(self)
    parameter_count = int(info%parameters)
  end function parameter_count

  ! Parameter `index`, from 1 to parameter_count(). Ends the program where there is none.
  type(c_parameter) function parameter_at(model, index) result(parameter)
    class(zygos_handle), intent(in) :: model
    integer, intent(in) :: index
    type(c_error) :: error
    integer(c_int) :: code

    code = c_get_parameter(model%handle, int(index - 1, c_int64_t), parameter, error)
    call conclude(code, error)
  end function parameter_at

  function parameter_name(self, index) result(name)
    class(zygos_handle), intent(in) :: self
    integer, intent(in) :: index
    character(:), allocatable :: name
    type(c_parameter) :: parameter

    parameter = parameter_at(self, index)
    name = text_at(parameter%name)
  end function parameter_name

  ! In the order of Fortran: (units, inputs) of the kernel of a dense layer.
  function parameter_shape(self, index) result(shape)
    class(zygos_handle), intent(in) :: self
    integer, intent(in) :: index
    integer(int64), allocatable :: shape(:)
    type(c_parameter) :: parameter

    parameter = parameter_at(self, index)
    shape = parameter%dimensions(parameter%rank:1:-1)
  end function parameter_shape
end module zygos_queries
