/** Returns the code of a system or database error, such as ENOENT. Returns an empty text if there is none. */
export function errorCode(error: unknown): string {
  return error instanceof Error && 'code' in error ? String(error.code) : ''
}
