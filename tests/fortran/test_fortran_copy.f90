! SPDX-FileCopyrightText: 2026 The Zygos authors
! SPDX-License-Identifier: Apache-2.0
!
! Ends with code 2 and a message: a surrogate is not copied.
program test_fortran_copy
  use zygos
  implicit none
  type(zygos_session) :: session
  type(zygos_surrogate) :: net, other

  call session%initialize(threads=1)
  call net%create(session, inputs=1, outputs=1, capacity=10)
  other = net
end program test_fortran_copy
