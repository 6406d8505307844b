# SPDX-FileCopyrightText: 2026 The Zygos authors
# SPDX-License-Identifier: Apache-2.0

# cmake -DOUTPUT=<file.cpp> -DNAME=<variable> -DHEADER=<its declaration> -DINPUTS=<file,file,...> -P embed_text.cmake
# Writes a C++ source whose variable zygos::app::<NAME> is the text of all inputs, one after the other.
set(text "")
string(REPLACE "," ";" inputs "${INPUTS}")
foreach(input IN LISTS inputs)
  file(READ "${input}" part)
  string(APPEND text "${part}")
endforeach()
file(WRITE "${OUTPUT}" "// Made by src/cmake/embed_text.cmake.
#include \"${HEADER}\"

namespace zygos::app {
const std::string_view ${NAME} = R\"zygos_text(${text})zygos_text\";
}
")
