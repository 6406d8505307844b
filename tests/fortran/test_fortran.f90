! SPDX-FileCopyrightText: 2026 The Zygos authors
! SPDX-License-Identifier: Apache-2.0
!
! Arrays of every rank and stride, models, weights and errors.
module fortran_checks
  use, intrinsic :: iso_fortran_env, only: int64, real32, real64
  use zygos
  implicit none
  integer :: failures = 0
  character(*), parameter :: line = new_line('a')
  ! y = (x1 + x2, 10 x3 - x1)
  character(*), parameter :: deck = 'deck_version: 1'//line// &
      'data: {format: synthetic, function: invariants, samples: 8}'//line// &
      'model: {layers: [{name: mix, type: dense, units: 2}], loss: mse}'//line// &
      'optimizer: adam'//line//'lanes: {host: {kind: host}}'//line//'policy: single'//line// &
      'train: {batch: 4, epochs: 1}'//line

contains

  subroutine check(holds, what)
    logical, intent(in) :: holds
    character(*), intent(in) :: what

    if (holds) return
    print '(2a)', 'failed: ', what
    failures = failures + 1
  end subroutine check

  ! A kernel (inputs, units) of a deck is kernel(units, inputs).
  subroutine create(session, model, factor, dims)
    type(zygos_session), intent(in) :: session
    type(zygos_model), intent(inout) :: model
    real(real32), intent(in) :: factor
    integer, intent(in), optional :: dims(:)
    real(real32), target :: kernel(2, 3), bias(2)

    call fill_weights(kernel, bias, factor)
    if (present(dims)) then
      call model%create(session, deck, dims, [zygos_weight('mix/bias', zygos_view(bias)), &
                                              zygos_weight('mix/kernel', zygos_view(kernel))])
    else
      call model%create(session, deck, [3], [zygos_weight('mix/kernel', zygos_view(kernel)), &
                                             zygos_weight('mix/bias', zygos_view(bias))], threads=1)
    end if
  end subroutine create

  subroutine fill_weights(kernel, bias, factor)
    real(real32), intent(out) :: kernel(2, 3), bias(2)
    real(real32), intent(in) :: factor

    kernel(1, :) = factor*[1.0, 1.0, 0.0]
    kernel(2, :) = factor*[-1.0, 0.0, 10.0]
    bias = 0.0
  end subroutine fill_weights

  function samples(n) result(x)
    integer, intent(in) :: n
    real(real64) :: x(3, n)
    integer :: i, k

    do i = 1, n
      do k = 1, 3
        x(k, i) = 8*i + k
      end do
    end do
  end function samples

  function expected(x) result(y)
    real(real64), intent(in) :: x(:, :)
    real(real64) :: y(2, size(x, 2))

    y(1, :) = x(1, :) + x(2, :)
    y(2, :) = 10*x(3, :) - x(1, :)
  end function expected

  pure logical function equal(a, b)
    real(real64), intent(in) :: a(:, :), b(:, :)

    equal = all(shape(a) == shape(b)) .and. all(abs(a - b) <= 0.0_real64)
  end function equal

  subroutine check_kinds(model)
    type(zygos_model), intent(inout) :: model
    real(real64) :: x8(3, 7), y8(2, 7)
    real(real32) :: x4(3, 7), y4(2, 7)

    x8 = samples(7)
    x4 = real(x8, real32)
    call model%predict(x8, y8)
    call check(equal(y8, expected(x8)), 'real64 to real64')
    call model%predict(x4, y4)
    call check(equal(real(y4, real64), expected(x8)), 'real32 to real32')
    y8 = 0
    call model%predict(x4, y8)
    call check(equal(y8, expected(x8)), 'real32 to real64')
    y4 = 0
    call model%predict(x8, y4)
    call check(equal(real(y4, real64), expected(x8)), 'real64 to real32')
  end subroutine check_kinds

  subroutine check_sections(model)
    type(zygos_model), intent(inout) :: model
    real(real64) :: wide(9, 20), y(2, 7), transposed(7, 3), out(5, 14), expected_y(2, 7)

    expected_y = expected(samples(7))
    wide = -1
    wide(2:8:3, 5:17:2) = samples(7)
    call model%predict(wide(2:8:3, 5:17:2), y)
    call check(equal(y, expected_y), 'a section with gaps')
    wide(8:2:-3, 17:5:-2) = samples(7)
    call model%predict(wide(8:2:-3, 17:5:-2), y)
    call check(equal(y, expected_y), 'a section that counts down')

    out = -7
    call model%predict(samples(7), out(2:4:2, 1:13:2))
    call check(equal(out(2:4:2, 1:13:2), expected_y), 'an output with gaps')
    call check(count(out > -7.5 .and. out < -6.5) == 5*14 - 14, 'gaps of an output')

    transposed = transpose(samples(7))
    call model%predict(transpose(transposed), y)
    call check(equal(y, expected_y), 'an expression')
  end subroutine check_sections

  ! A component of all elements of an array: strides of the size of an element, and samples in three arrays.
  subroutine check_components(model)
    type(zygos_model), intent(inout) :: model
    type :: cell
      real(real64) :: a
      real(real32) :: b
      real(real64) :: c, closure(2)
    end type cell
    type(cell), target :: cells(7)
    real(real64), pointer :: a(:), c(:)
    real(real32), pointer :: b(:)
    real(real64) :: x(3, 7), y(2, 7)

    x = samples(7)
    cells%a = x(1, :)
    cells%b = real(x(2, :), real32)
    cells%c = x(3, :)
    a => cells%a
    b => cells%b
    c => cells%c
    call model%predict([zygos_view(a), zygos_view(b), zygos_view(c)], y)
    call check(equal(y, expected(x)), 'components of an array of derived type')
  end subroutine check_components

  subroutine check_ranks(model)
    type(zygos_model), intent(inout) :: model
    real(real64) :: x(3, 7), y(2, 7), three(1, 2, 7), seven(1, 2, 1, 1, 1, 1, 7)
    real(real64), allocatable :: field(:, :, :)
    real(real64), pointer :: window(:, :)
    real(real64), target :: storage(4, 9)

    x = samples(7)
    allocate (field(3, 1, 7), source=reshape(x, [3, 1, 7]))
    call model%predict(field, three)
    call check(equal(reshape(three, [2, 7]), expected(x)), 'rank 3')
    call model%predict(reshape(x, [1, 3, 1, 7]), seven)
    call check(equal(reshape(seven, [2, 7]), expected(x)), 'ranks 4 and 7')
    storage = 0
    window => storage(2:4, 3:9)
    window = x
    call model%predict(window, y)
    call check(equal(y, expected(x)), 'a pointer')
    call model%predict(x(:, 1:0), y(:, 1:0))
  end subroutine check_ranks

  subroutine check_models(session, model)
    type(zygos_session), intent(in) :: session
    type(zygos_model), intent(inout) :: model
    type(zygos_model) :: shared, copy, several(2), pair(2)
    real(real64) :: x(3, 7), y(2, 7)
    real(real32), target :: kernel(2, 3), bias(2)

    x = samples(7)
    call model%share(shared, threads=1)
    copy = model
    pair(1) = shared
    pair(2) = copy
    several = pair
    copy = copy
    call fill_weights(kernel, bias, 2.0)
    call shared%assign([zygos_weight('mix/kernel', zygos_view(kernel)), zygos_weight('mix/bias', zygos_view(bias))])
    call copy%predict(x, y)
    call check(equal(y, 2*expected(x)), 'new weights of a share')
    call create(session, shared, 3.0)
    call copy%predict(x, y)
    call check(equal(y, 2*expected(x)), 'a share after the other one has another model')
    call several(1)%predict(x, y)
    call check(equal(y, 2*expected(x)), 'a model in an array')
    call copy%free()
    call check(.not. copy%is_loaded(), 'a freed model')
    call check(several(2)%is_loaded() .and. model%is_loaded(), 'models that are left')
    call fill_weights(kernel, bias, 1.0)
    call model%assign([zygos_weight('mix/kernel', zygos_view(kernel)), zygos_weight('mix/bias', zygos_view(bias))])
  end subroutine check_models

  subroutine check_queries(session, model)
    type(zygos_session), intent(in) :: session
    type(zygos_model), intent(inout) :: model
    type(zygos_model) :: image

    call check(session%threads() == 2, 'threads of the session')
    call check(all(model%input_shape() == [3_int64]), 'the input shape')
    call check(all(model%output_shape() == [2_int64]), 'the output shape')
    call check(model%precision() == zygos_float32, 'the precision')
    call check(model%threads() == 1, 'threads of the model')
    call check(model%block() >= 4, 'the block')
    call check(model%weight_bytes() >= 32, 'bytes of weights')
    call check(model%workspace_bytes() > 0, 'bytes of the workspace')
    call check(model%parameter_count() == 2, 'the number of parameters')
    call check(model%parameter_name(1) == 'mix/kernel', 'the name of a parameter')
    call check(all(model%parameter_shape(1) == [2_int64, 3_int64]), 'the shape of a parameter')
    call create(session, image, 1.0, [3, 1, 1])
    call check(all(image%input_shape() == [3_int64, 1_int64, 1_int64]), 'the shape of an image')
    call image%prepare(16)
    call check(image%workspace_bytes() > 0, 'bytes after prepare')
  end subroutine check_queries

  subroutine check_errors(session, model)
    type(zygos_session), intent(inout) :: session
    type(zygos_model), intent(inout) :: model
    type(zygos_model) :: none
    real(real64) :: x(3, 7), y(2, 7), deep(1, 1, 1, 1, 1, 1, 3, 7)
    character(200) :: message
    integer :: stat

    x = samples(7)
    y = -7
    message = 'as before'
    call model%predict(x, y, stat=stat, errmsg=message)
    call check(stat == zygos_ok .and. message == 'as before', 'no error leaves the message alone')
    y = -7
    call model%predict(x(1:2, :), y, stat=stat, errmsg=message)
    call check(stat == zygos_error_usage .and. index(message, '[2]') > 0, 'too few features')
    call model%predict(x(:, 1:5), y, stat=stat, errmsg=message)
    call check(stat == zygos_error_usage .and. index(message, '5 samples') > 0, 'too few samples')
    deep = 0
    call model%predict(deep, y, stat=stat, errmsg=message)
    call check(stat == zygos_error_usage .and. index(message, '1 to 7 dimensions') > 0, 'rank 8')
    call none%predict(x, y, stat=stat, errmsg=message)
    call check(stat == zygos_error_usage .and. message == 'model is NULL', 'a model that holds nothing')
    call check(all(abs(y + 7) <= 0), 'the output after errors')
    call none%load(session, 'nowhere  ', stat=stat, errmsg=message)
    call check(stat == zygos_error_usage .and. index(message, 'nowhere is not a directory') == 1, 'no run')
    call model%load(session, 'nowhere', stat=stat)
    call check(stat == zygos_error_usage .and. model%is_loaded(), 'a failed load keeps the model')
    call model%reload('nowhere', best=.true., stat=stat)
    call check(stat == zygos_error_usage, 'reload from nowhere')
    call model%prepare(0, stat=stat)
    call check(stat == zygos_error_usage, 'prepare for no samples')
    call session%finalize(stat=stat, errmsg=message)
    call check(stat == zygos_error_usage .and. index(message, 'has 1 models') > 0, 'finalize with a model')
    call session%initialize(threads=-1, stat=stat)
    call check(stat == zygos_error_usage .and. session%threads() == 2, 'a failed initialize')
  end subroutine check_errors
end module fortran_checks

program test_fortran
  use fortran_checks
  implicit none
  type(zygos_session) :: session
  type(zygos_model) :: model

  call session%initialize(threads=2)
  call create(session, model, 1.0)
  call check_kinds(model)
  call check_sections(model)
  call check_components(model)
  call check_ranks(model)
  call check_models(session, model)
  call check_queries(session, model)
  call check_errors(session, model)
  call model%free()
  call session%finalize()
  if (failures > 0) error stop 1
  print '(a)', 'all checks passed'
end program test_fortran
