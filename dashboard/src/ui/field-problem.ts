import { ApiError } from '../api/client.ts'

/** Returns the error of a field or of a part of it. The path of a part is put before its message. */
export function problemWithin(error: unknown, field: string): string | undefined {
  if (!(error instanceof ApiError)) return undefined
  const found = error.fields.find(
    (one) => one.field === field || /^[.[]/.test(removePrefix(one.field, field)),
  )
  if (found === undefined) return undefined
  return found.field === field ? found.message : `${found.field}: ${found.message}`
}

const removePrefix = (path: string, field: string) => (path.startsWith(field) ? path.slice(field.length) : '')
