import { type ExportFormat, MAX_FILE_NAME } from '#contract/exports.ts'

const DEFAULT_NAME = 'export'
const FIRST_CHARACTERS = new RegExp(`^.{0,${MAX_FILE_NAME}}`, 'u')

/** The base name of a file: what is no letter or digit, of whatever script, becomes `_`. */
export function safeFileName(wanted = ''): string {
  const name = wanted
    .normalize('NFC')
    .trim()
    .replace(/[^\p{L}\p{M}\p{N}]/gu, '_')
  return name === '' ? DEFAULT_NAME : (FIRST_CHARACTERS.exec(name)?.[0] ?? DEFAULT_NAME)
}

/** Names a file after the days that it holds: `ledger-2026-03-01_2026-03-31`. */
export function nameOfDays(what: string, first?: string, last?: string): string {
  return first === undefined || last === undefined
    ? what
    : `${what}-${first.slice(0, 10)}_${last.slice(0, 10)}`
}

/** RFC 6266: the name as it is, and one in ASCII for programs that do not know the other form. */
export function contentDisposition(name: string, format: ExportFormat): string {
  const ascii = name.replace(/[^\w-]/g, '_')
  return `attachment; filename="${ascii}.${format}"; filename*=UTF-8''${encodeURIComponent(name)}.${format}`
}

export const CONTENT_TYPES: Record<ExportFormat, string> = {
  csv: 'text/csv; charset=utf-8',
  jsonl: 'application/x-ndjson; charset=utf-8',
  xlsx: 'application/vnd.openxmlformats-officedocument.spreadsheetml.sheet',
}
