/** What is wrong with a file, in words for the person who made it. Trying again would not help. */
export class FileFault extends Error {
  override name = 'FileFault'
}

/** No record of a sensible table is longer, and none is held in memory beyond it. */
export const MAX_RECORD_BYTES = 2 * 1024 * 1024
