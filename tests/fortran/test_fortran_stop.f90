! SPDX-FileCopyrightText: 2026 The Zygos authors
! SPDX-License-Identifier: Apache-2.0
!
! Nobody asks for the code of an error.
program test_fortran_stop
  use zygos
  implicit none
  type(zygos_session) :: session
  type(zygos_model) :: model

  call session%initialize(threads=1)
  call model%load(session, 'nowhere')
end program test_fortran_stop
