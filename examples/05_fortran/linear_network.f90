! SPDX-FileCopyrightText: 2026 The Zygos authors
! SPDX-License-Identifier: Apache-2.0
!
! A model without files: the text of a deck and named weights. Its first output is the trace of a symmetric tensor
! (xx, yy, zz, yz, xz, xy), the two others are 0.
module linear_network
  use zygos
  implicit none

contains

  subroutine create_linear_network(session, model)
    type(zygos_session), intent(in) :: session
    type(zygos_model), intent(inout) :: model
    character(*), parameter :: line = new_line('a')
    character(*), parameter :: deck = 'deck_version: 1'//line// &
        'data: {format: synthetic, function: invariants, samples: 1}'//line// &
        'model: {layers: [{name: linear, type: dense, units: 3}], loss: mse}'//line// &
        'optimizer: sgd'//line//'lanes: {host: {kind: host}}'//line//'policy: single'//line// &
        'train: {epochs: 1, batch: 1}'//line
    real, target :: kernel(3, 6), bias(3)  ! the deck's (inputs, units) is (units, inputs) here

    kernel = 0
    kernel(1, 1:3) = 1
    bias = 0
    call model%create(session, deck, [6], [zygos_weight('linear/kernel', zygos_view(kernel)), &
                                           zygos_weight('linear/bias', zygos_view(bias))])
  end subroutine create_linear_network
end module linear_network
