/** The delimiters that are tried on a file that names none. */
export const DELIMITERS = [',', ';', '\t', '|']
/** Matches the first line in which spreadsheet programs name the separator. It is not a record. */
export const NAMED_DELIMITER = /^sep=([^\r\n])(?:\r\n|[\r\n]|$)/i
