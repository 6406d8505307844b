# SPDX-FileCopyrightText: 2026 The Zygos authors
# SPDX-License-Identifier: Apache-2.0

# cmake -DOUTPUT=<file.cpp> -DNAME=<variable> -DINPUTS=<file,file,...> -P embed_text.cmake
# Writes a C++ source whose variable zygos::app::<NAME> is the text of all inputs, one after the other.
set(text "")
string(REPLACE "," ";" inputs "${INPUTS}")
foreach(input IN LISTS inputs)
  file(READ "${input}" part)
  string(APPEND text "${part}")
endforeach()
file(WRITE "${OUTPUT}" "// Made from files of src/app/report/page.
#include \"app/report/report_page.hpp\"

namespace zygos::app {
const std::string_view ${NAME} = R\"zygos_text(${text})zygos_text\";
}
")
