! SPDX-FileCopyrightText: 2026 The Zygos authors
! SPDX-License-Identifier: Apache-2.0

! out = x0 + 2 x1, and the code of the first error.
integer(c_int) function closure(n, states, out) bind(c)
  use, intrinsic :: iso_c_binding
  use zygos
  implicit none
  integer(c_int), value :: n
  real(c_double), intent(in) :: states(2, n)
  real(c_double), intent(inout) :: out(n)

  call predict()

contains

  subroutine predict()
    character(*), parameter :: line = new_line('a')
    character(*), parameter :: deck = 'deck_version: 1'//line// &
        'data: {format: synthetic, function: invariants, samples: 1}'//line// &
        'model: {layers: [{name: sum, type: dense, units: 1}], loss: mse}'//line// &
        'optimizer: sgd'//line//'lanes: {host: {kind: host}}'//line//'policy: single'//line// &
        'train: {epochs: 1, batch: 1}'//line
    type(zygos_session) :: session
    type(zygos_model) :: model
    real(c_double), target :: kernel(1, 2), bias(1)
    integer :: stat

    kernel(1, :) = [1, 2]
    bias = 0
    call session%initialize(stat=stat)
    if (stat == zygos_ok) call model%create(session, deck, [2], [zygos_weight('sum/kernel', zygos_view(kernel)), &
                                                                 zygos_weight('sum/bias', zygos_view(bias))], stat=stat)
    if (stat == zygos_ok) call model%predict(states, out, stat=stat)
    call model%free()
    if (stat == zygos_ok) call session%finalize(stat=stat)
    closure = int(stat, c_int)
  end subroutine predict
end function closure
