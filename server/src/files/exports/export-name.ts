import { type ExportFormat, MAX_FILE_NAME } from '#contract/exports.ts'
import { normalizeText } from '../../lib/plain-text.ts'

const DEFAULT_NAME = 'export'
const FIRST_CHARACTERS = new RegExp(`^.{0,${MAX_FILE_NAME}}`, 'u')

/** Returns a base name for a file. Characters that are not letters or digits of any script become `_`. */
export function safeFileName(wanted = ''): string {
  const name = normalizeText(wanted, 'NFC')
    .trim()
    .replace(/[^\p{L}\p{M}\p{N}]/gu, '_')
  return name === '' ? DEFAULT_NAME : (FIRST_CHARACTERS.exec(name)?.[0] ?? DEFAULT_NAME)
}

/** Names a file after the days that it covers: `ledger-2026-03-01_2026-03-31`. */
export function nameByDays(prefix: string, first?: string, last?: string): string {
  return first === undefined || last === undefined
    ? prefix
    : `${prefix}-${first.slice(0, 10)}_${last.slice(0, 10)}`
}

/**
 * Returns the Content-Disposition header (RFC 6266) with the full name, and an ASCII name for clients that do not
 * support the other form.
 */
export function contentDisposition(name: string, format: ExportFormat): string {
  const ascii = name.replace(/[^\w-]/g, '_')
  return `attachment; filename="${ascii}.${format}"; filename*=UTF-8''${encodeURIComponent(name)}.${format}`
}

export const CONTENT_TYPES: Record<ExportFormat, string> = {
  csv: 'text/csv; charset=utf-8',
  jsonl: 'application/x-ndjson; charset=utf-8',
  xlsx: 'application/vnd.openxmlformats-officedocument.spreadsheetml.sheet',
}
