# SPDX-FileCopyrightText: 2026 The Zygos authors
# SPDX-License-Identifier: Apache-2.0
#
# For Doxygen: the comment that a header begins with, below the lines of the licence, describes the file.
FNR == 1 { head = 1 }
head && /^\/\/ SPDX-/ { print ""; next }
head && /^\/\/$/ { print (described ? "///" : "/// @file"); described = 1; next }
head && /^\/\/ / { sub(/^\/\//, "///"); print; next }
{ head = 0; print }
