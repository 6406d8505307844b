# SPDX-FileCopyrightText: 2026 The Zygos authors
# SPDX-License-Identifier: Apache-2.0

# zygos_docs_api: the API reference, build/<preset>/docs/api/index.html. A warning is an error.
find_program(ZYGOS_DOXYGEN doxygen DOC "Doxygen, for the target zygos_docs_api")
if(ZYGOS_DOXYGEN)
  configure_file(${PROJECT_SOURCE_DIR}/docs/Doxyfile.in ${PROJECT_BINARY_DIR}/docs/Doxyfile @ONLY)
  add_custom_target(zygos_docs_api
    COMMAND ${ZYGOS_DOXYGEN} ${PROJECT_BINARY_DIR}/docs/Doxyfile
    COMMENT "Writing docs/api/index.html"
    VERBATIM)
endif()
