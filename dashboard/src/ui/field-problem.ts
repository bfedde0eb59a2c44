import { ApiError } from '../api/client.ts'

/** What was refused about a field or a part of it; parts are named in front. */
export function problemWithin(error: unknown, field: string): string | undefined {
  if (!(error instanceof ApiError)) return undefined
  const found = error.fields.find((one) => one.field === field || /^[.[]/.test(partOf(one.field, field)))
  if (found === undefined) return undefined
  return found.field === field ? found.message : `${found.field}: ${found.message}`
}

const partOf = (path: string, field: string) => (path.startsWith(field) ? path.slice(field.length) : '')
