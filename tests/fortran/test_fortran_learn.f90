! SPDX-FileCopyrightText: 2026 The Zygos authors
! SPDX-License-Identifier: Apache-2.0
!
! Surrogates that learn from arrays of every kind and rank, restart, and refuse.
module learn_checks
  use, intrinsic :: ieee_arithmetic, only: ieee_is_finite, ieee_quiet_nan, ieee_value
  use, intrinsic :: iso_fortran_env, only: int8, int64, real32, real64
  use zygos
  implicit none
  integer, parameter :: cells = 200
  integer :: failures = 0
  character(*), parameter :: line = new_line('a')
  character(*), parameter :: input = 'mesh: {cells: 128}'//line//'surrogate:'//line//'  inputs: 3'//line// &
      '  outputs: 2'//line//'  hidden: [16, 16]'//line//'  batch: 32'//line//'  max_steps: 20'//line// &
      '  reservoir: {capacity: 500}'//line

contains

  subroutine check(holds, what)
    logical, intent(in) :: holds
    character(*), intent(in) :: what

    if (holds) return
    print '(2a)', 'failed: ', what
    failures = failures + 1
  end subroutine check

  subroutine create(session, net)
    type(zygos_session), intent(in) :: session
    type(zygos_surrogate), intent(inout) :: net

    call net%create(session, inputs=3, outputs=2, hidden=[16, 16], batch=32, capacity=500)
  end subroutine create

  ! f = (x1 x2, x3 - x1), of numbers that both kinds have.
  subroutine fill(x, f, shift)
    real(real64), intent(out) :: x(3, cells), f(2, cells)
    integer, intent(in) :: shift
    integer :: i, k

    do i = 1, cells
      do k = 1, 3
        x(k, i) = mod(37*(i + shift) + 11*k*k*i, 128)/64.0_real64 - 1
      end do
    end do
    f(1, :) = x(1, :)*x(2, :)
    f(2, :) = x(3, :) - x(1, :)
  end subroutine fill

  ! The state of a surrogate after training on what was added.
  function learned(net) result(bytes)
    type(zygos_surrogate), intent(inout) :: net
    integer(int8), allocatable :: bytes(:)
    type(zygos_training) :: training

    call net%train(max_steps=20, training=training)
    call check(training%steps == 20 .and. training%refused == 0, 'steps of a training')
    call check(training%loss > 0 .and. training%seconds > 0 .and. training%step_seconds > 0, 'its numbers')
    call net%save(bytes)
  end function learned

  pure logical function same(a, b)
    integer(int8), intent(in) :: a(:), b(:)

    same = size(a) == size(b)
    if (same) same = all(a == b)
  end function same

  subroutine check_adding(session)
    type(zygos_session), intent(in) :: session
    type(zygos_surrogate) :: net
    real(real64), target :: x(3, cells), f(2, cells)
    real(real32) :: x4(3, cells), f4(2, cells)
    real(real64) :: wide(7, 2*cells)
    integer(int8), allocatable :: bytes(:)

    call fill(x, f, 0)
    x4 = real(x, real32)
    f4 = real(f, real32)
    call create(session, net)
    call net%add(x, f)
    bytes = learned(net)
    call create(session, net)
    call net%add(x4, f4)
    call check(same(learned(net), bytes), 'add real32, real32')
    call create(session, net)
    call net%add(x4, f)
    call check(same(learned(net), bytes), 'add real32, real64')
    call create(session, net)
    call net%add(x, f4)
    call check(same(learned(net), bytes), 'add real64, real32')
    wide = -9
    wide(6:2:-2, ::2) = x
    call create(session, net)
    call net%add(wide(6:2:-2, ::2), f)
    call check(same(learned(net), bytes), 'add a section')
    call create(session, net)
    call net%add(transpose(transpose(x)), f)
    call check(same(learned(net), bytes), 'add an expression')
    call check_adding_views(session, x, f, f4, bytes)
  end subroutine check_adding

  subroutine check_adding_views(session, x, f, f4, bytes)
    type(zygos_session), intent(in) :: session
    real(real64), intent(in), target :: x(3, cells), f(2, cells)
    real(real32), intent(in) :: f4(2, cells)
    integer(int8), intent(in) :: bytes(:)
    real(real64), target :: first(2, cells), last(cells), out(2, cells)
    type(zygos_surrogate) :: net

    first = x(1:2, :)
    last = x(3, :)
    out = f
    call create(session, net)
    call net%add([zygos_view(first), zygos_view(last)], f)
    call check(same(learned(net), bytes), 'add views, real64')
    call create(session, net)
    call net%add([zygos_view(first), zygos_view(last)], f4)
    call check(same(learned(net), bytes), 'add views, real32')
    call create(session, net)
    call net%add([zygos_view(first), zygos_view(last)], [zygos_view(out)])
    call check(same(learned(net), bytes), 'add views, views')
  end subroutine check_adding_views

  subroutine check_predicting(session)
    type(zygos_session), intent(in) :: session
    type(zygos_surrogate) :: net
    real(real64) :: x(3, cells), f(2, cells), y(2, cells), wide(5, 2*cells)
    real(real64), target :: first(2, cells), last(cells), one(cells), two(cells)
    real(real32) :: x4(3, cells), y4(2, cells)

    call fill(x, f, 0)
    x4 = real(x, real32)
    call create(session, net)
    call net%add(x, f)
    call net%train(max_steps=600)
    call net%predict(x, y)
    call check(maxval(abs(y - f)) < 0.5_real64 .and. sum(abs(y - f)) < 0.1_real64*size(f), 'what it has learned')
    call net%predict(x4, y4)
    call check(all(abs(real(y, real32) - y4) <= 0), 'predict real32, real32')
    y4 = 0
    call net%predict(x, y4)
    call check(all(abs(real(y, real32) - y4) <= 0), 'predict real64, real32')
    wide = -7
    call net%predict(x4, wide(2:4:2, ::2))
    call check(all(abs(y - wide(2:4:2, ::2)) <= 0), 'predict real32, a section of real64')
    call check(count(abs(wide + 7) <= 0) == size(wide) - size(y), 'gaps of an output')
    first = x(1:2, :)
    last = x(3, :)
    wide = 0
    call net%predict([zygos_view(first), zygos_view(last)], wide(:2, :cells))
    call check(all(abs(y - wide(:2, :cells)) <= 0), 'predict views, real64')
    y4 = 0
    call net%predict([zygos_view(first), zygos_view(last)], y4)
    call check(all(abs(real(y, real32) - y4) <= 0), 'predict views, real32')
    call net%predict([zygos_view(first), zygos_view(last)], [zygos_view(one), zygos_view(two)])
    call check(all(abs(y(1, :) - one) <= 0) .and. all(abs(y(2, :) - two) <= 0), 'predict views, views')
  end subroutine check_predicting

  subroutine check_ensemble(session)
    type(zygos_session), intent(in) :: session
    type(zygos_surrogate) :: nets, one
    real(real64), target :: x(3, cells), f(2, cells), y(2, cells), spread(cells), far(cells), again(cells)
    real(real64) :: mean(2, cells)
    real(real32) :: x4(3, cells), y4(2, cells), spread4(cells)
    character(200) :: message
    integer :: stat

    call fill(x, f, 0)
    call nets%create(session, inputs=3, outputs=2, hidden=[16, 16], batch=32, capacity=500, members=3)
    call nets%add(x, f)
    call nets%train(max_steps=300)
    spread = -1
    call nets%predict_spread(x, y, spread)
    call check(all(spread > 0) .and. sum(spread) < 0.5_real64*cells, 'networks that have learned the same')
    call nets%predict(x, mean)
    call check(all(abs(mean - y) <= 0), 'their mean')
    call nets%predict_spread([zygos_view(x)], [zygos_view(y)], zygos_view(again))
    call check(all(abs(again - spread) <= 0), 'the spread of views')
    x4 = real(x, real32)
    call nets%predict_spread(x4, y4, spread4)
    call check(all(abs(spread4 - real(spread, real32)) <= 0), 'the spread as real32')
    call nets%predict_spread(x + 20, y, far)
    call check(sum(far) > 3*sum(spread), 'networks that do not know')
    associate (info => nets%info())
      call check(info%members == 3 .and. info%steps == 900, 'the info of an ensemble')
    end associate
    call create(session, one)
    call one%predict_spread(x, y, spread, stat=stat, errmsg=message)
    call check(stat == zygos_error_usage .and. index(message, 'no spread') > 0, 'the spread of one network')
    call nets%predict_spread(x, y, spread(2:), stat=stat, errmsg=message)
    call check(stat == zygos_error_usage .and. index(message, 'spread') > 0, 'too little room for the spread')
  end subroutine check_ensemble

  subroutine check_errors_of_outputs(session)
    type(zygos_session), intent(in) :: session
    type(zygos_surrogate) :: net
    real(real64) :: x(3, cells), f(2, cells), y(2, cells), error, loss, rms(4), deviation
    integer(int64) :: samples

    call fill(x, f, 0)
    x(2, 5) = ieee_value(0.0_real64, ieee_quiet_nan)
    call create(session, net)
    samples = -1
    call net%validate(error, samples=samples)
    call check(samples == 0 .and. error > huge(1.0_real64), 'no error without samples')
    call net%add(x, f)
    call net%train(max_steps=400)
    rms = -1
    call net%validate(error, loss, samples, rms(1:3:2))
    call check(samples == 20 .and. error > 0 .and. error < 0.5_real64 .and. loss > 0, 'the validation error')
    call check(all(rms(1:3:2) > 0) .and. all(rms(1:3:2) < 0.5_real64) .and. all(rms(2:4:2) < 0), 'errors by output')
    call net%predict(x(:, 6:), y(:, 6:))
    deviation = sqrt(sum((y(1, 6:) - f(1, 6:))**2)/(cells - 5))
    call check(rms(1) > 0.2_real64*deviation .and. rms(1) < 5*deviation, 'the unit of an error')
    associate (info => net%info())
      call check(info%steps == 400 .and. info%steps_refused == 0, 'steps of the info')
      call check(info%samples_seen == cells .and. info%samples_refused == 1, 'a NaN is left out')
      call check(info%training == 180 .and. info%validation == 20, 'samples that are kept')
      call check(info%precision == zygos_float32 .and. info%threads == 2 .and. info%bytes > 500*40, 'the info')
    end associate
    call check(all(net%input_shape() == [3_int64]) .and. all(net%output_shape() == [2_int64]), 'shapes')
    call check(all(ieee_is_finite(y(:, 6:))), 'predictions after a NaN')
  end subroutine check_errors_of_outputs

  subroutine check_restart(session)
    type(zygos_session), intent(in) :: session
    type(zygos_surrogate) :: net, restarted, other
    real(real64) :: x(3, cells), f(2, cells), before(2, cells), y(2, cells)
    integer(int8), allocatable :: bytes(:), kept(:)
    integer :: stat

    call fill(x, f, 0)
    call create(session, net)
    call net%add(x, f)
    bytes = learned(net)
    call create(session, restarted)
    call restarted%restore(bytes)
    call fill(x, f, 1)
    call net%add(x, f)
    call restarted%add(x, f)
    call check(same(learned(restarted), learned(net)), 'bits of a restart')
    call net%predict(x, before)
    call net%train(max_steps=5)
    call net%rollback()
    call net%predict(x, y)
    call check(all(abs(y - before) <= 0), 'a rollback')

    call net%save(kept)
    call other%create(session, inputs=3, outputs=2, hidden=[16], batch=32, capacity=500)
    call other%save(bytes)
    call net%restore(bytes, stat=stat)
    call check(stat == zygos_error_checkpoint, 'the state of another network')
    call net%restore(kept(:size(kept) - 1), stat=stat)
    call check(stat == zygos_error_checkpoint, 'a state that is cut off')
    call net%save(bytes)
    call check(same(bytes, kept), 'the surrogate after these errors')
    call check_input_file(session, kept)
  end subroutine check_restart

  subroutine check_input_file(session, other)
    type(zygos_session), intent(in) :: session
    integer(int8), intent(in) :: other(:)
    type(zygos_surrogate) :: net
    real(real64) :: x(3, cells), f(2, cells)
    integer :: unit, stat
    character(300) :: message

    open (newunit=unit, file='test_fortran_learn.yaml', status='replace', action='write', access='stream')
    write (unit) input
    close (unit)
    call net%load_spec(session, 'test_fortran_learn.yaml')
    call net%restore(other)  ! has the same options
    call fill(x, f, 0)
    call net%parse_spec(session, input, threads=1)
    call net%add(x, f)
    call net%train()
    associate (info => net%info())
      call check(info%steps == 20 .and. info%threads == 1, 'limits of an input file')
    end associate
    open (newunit=unit, file='test_fortran_learn.yaml', status='old')
    close (unit, status='delete')
    call net%load_spec(session, 'nowhere.yaml', stat=stat, errmsg=message)
    call check(stat == zygos_error_usage .and. index(message, 'nowhere.yaml') > 0, 'no input file')
    call net%parse_spec(session, 'mesh: 3', stat=stat, errmsg=message)
    call check(stat == zygos_error_usage .and. index(message, 'no section') > 0, 'no section')
    call check(net%is_created(), 'the surrogate that was there')
  end subroutine check_input_file

  subroutine check_options(session)
    type(zygos_session), intent(in) :: session
    type(zygos_surrogate) :: net, several(2)
    character(200) :: message
    integer :: stat, i
    character(7), parameter :: words(5) = [character(7) :: 'tanh', 'relu', 'sigmoid', 'gelu', 'linear']

    do i = 1, size(words)
      call net%create(session, 3, 2, hidden=[4], activation=words(i), learning_rate=1e-2_real64, min_samples=4, &
                      block=16, precision=zygos_float64, standardise=.false., seed=3, validate_every=-1, &
                      keep='newest', stored=zygos_float32, threads=1, stat=stat)
      call check(stat == zygos_ok, 'activation '//words(i))
    end do
    associate (info => net%info())
      call check(info%precision == zygos_float64 .and. info%threads == 1, 'options')
    end associate
    call several(1)%create(session, 3, 2, hidden=[integer ::])
    call several(1)%free()
    call check(.not. several(1)%is_created(), 'a surrogate that is freed')
    message = 'as before'
    call net%create(session, 3, 2, activation='tnh', stat=stat, errmsg=message)
    call check(stat == zygos_error_usage .and. &
               message == "activation is 'tnh'; allowed are tanh relu sigmoid gelu linear", 'an unknown activation')
    call net%create(session, 3, 2, keep='oldest', stat=stat, errmsg=message)
    call check(stat == zygos_error_usage .and. message == "keep is 'oldest'; allowed are uniform newest", 'keep')
    call net%create(session, 0, 2, stat=stat, errmsg=message)
    call check(stat == zygos_error_usage .and. index(message, '0 inputs') > 0, 'no inputs')
    call check(net%is_created(), 'a failed create keeps the surrogate')
  end subroutine check_options

  subroutine check_errors(session)
    type(zygos_session), intent(inout) :: session
    type(zygos_surrogate) :: net, none
    real(real64) :: x(3, cells), f(2, cells), y(2, cells), deep(1, 1, 1, 1, 1, 1, 3, 7), rms(3)
    integer(int8), allocatable :: bytes(:)
    character(200) :: message
    integer :: stat

    call fill(x, f, 0)
    call create(session, net)
    message = 'as before'
    call net%add(x, f, stat=stat, errmsg=message)
    call check(stat == zygos_ok .and. message == 'as before', 'no error leaves the message alone')
    call net%add(x(1:2, :), f, stat=stat, errmsg=message)
    call check(stat == zygos_error_usage .and. index(message, '2 numbers a sample') > 0, 'too few features')
    call net%add(x(:, 1:5), f, stat=stat, errmsg=message)
    call check(stat == zygos_error_usage .and. index(message, 'another one 5') > 0, 'too few samples')
    deep = 0
    call net%add(deep, f, stat=stat, errmsg=message)
    call check(stat == zygos_error_usage .and. index(message, '1 to 7 dimensions') > 0, 'rank 8')
    y = -7
    call net%predict(x(1:2, :), y, stat=stat)
    call check(stat == zygos_error_usage .and. all(abs(y + 7) <= 0), 'the output after an error')
    call net%train(stat=stat, errmsg=message)
    call check(stat == zygos_error_usage .and. index(message, 'without an end') > 0, 'training without an end')
    call net%train(budget=-1.0_real64, stat=stat)
    call check(stat == zygos_error_usage, 'a budget below 0')
    call net%validate(root_mean_squares=rms, stat=stat, errmsg=message)
    call check(stat == zygos_error_usage .and. index(message, 'has 2') > 0, 'room for other outputs')
    call none%add(x, f, stat=stat, errmsg=message)
    call check(stat == zygos_error_usage .and. message == 'surrogate is NULL', 'a surrogate that holds nothing')
    call none%train(max_steps=1, stat=stat)
    call check(stat == zygos_error_usage, 'its training')
    call none%rollback(stat=stat)
    call check(stat == zygos_error_usage, 'its rollback')
    bytes = [integer(int8) :: 1, 2, 3]
    call none%save(bytes, stat=stat)
    call check(stat == zygos_error_usage .and. allocated(bytes), 'its state')
    if (allocated(bytes)) call check(same(bytes, [integer(int8) :: 1, 2, 3]), 'a buffer after an error')
    call session%finalize(stat=stat, errmsg=message)
    call check(stat == zygos_error_usage .and. index(message, 'has 1 models') > 0, 'finalize with a surrogate')
  end subroutine check_errors
end module learn_checks

program test_fortran_learn
  use learn_checks
  implicit none
  type(zygos_session) :: session

  call session%initialize(threads=2)
  call check_adding(session)
  call check_predicting(session)
  call check_ensemble(session)
  call check_errors_of_outputs(session)
  call check_restart(session)
  call check_options(session)
  call check_errors(session)
  call session%finalize()
  if (failures > 0) error stop 1
  print '(a)', 'all checks passed'
end program test_fortran_learn
