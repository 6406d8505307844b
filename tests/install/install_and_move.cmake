# SPDX-FileCopyrightText: 2026 The Zygos authors
# SPDX-License-Identifier: Apache-2.0
#
# Installs BUILD into PREFIX and moves that to MOVED: what finds its way only by absolute paths fails.

file(REMOVE_RECURSE ${PREFIX} ${MOVED})
execute_process(COMMAND ${CMAKE_COMMAND} --install ${BUILD} --prefix ${PREFIX} COMMAND_ERROR_IS_FATAL ANY OUTPUT_QUIET)
file(RENAME ${PREFIX} ${MOVED})

set(program ${MOVED}/bin/zygos)
if(EXISTS ${program})
  execute_process(COMMAND ${program} --version COMMAND_ERROR_IS_FATAL ANY)
endif()
