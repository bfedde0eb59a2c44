/** A defect of a file, described for the person who made the file. A retry would not help. */
export class FileFault extends Error {
  override name = 'FileFault'
}

/**
 * The size limit of one record. No sensible table has a longer record, and the server never holds more than
 * this in memory.
 */
export const MAX_RECORD_BYTES = 2 * 1024 * 1024
