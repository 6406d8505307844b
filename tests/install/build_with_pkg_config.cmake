# SPDX-FileCopyrightText: 2026 The Zygos authors
# SPDX-License-Identifier: Apache-2.0
#
# Builds SOURCES in FOLDER with the flags that pkg-config gives for PACKAGE, and runs the program.

set(ENV{PKG_CONFIG_PATH} ${PREFIX}/${LIBDIR}/pkgconfig)
execute_process(COMMAND ${PKG_CONFIG} --cflags --libs ${PACKAGE} OUTPUT_VARIABLE flags COMMAND_ERROR_IS_FATAL ANY)
separate_arguments(flags UNIX_COMMAND "${flags}")
file(MAKE_DIRECTORY ${FOLDER})
execute_process(COMMAND ${COMPILER} ${SOURCES} -o program ${flags} WORKING_DIRECTORY ${FOLDER} COMMAND_ERROR_IS_FATAL ANY)
execute_process(COMMAND ${FOLDER}/program COMMAND_ERROR_IS_FATAL ANY)
