import { LoamError } from './errors.ts'

/** A sheet: the id of a workflow for its main sheet, or both ids. */
export type SheetRef = string | { workflow_id: string; sheet_id: string }

/**
 * Writes a path with its ids encoded. Ids that would change the meaning of the path are refused: an empty one would
 * name the whole list.
 */
export function path(texts: TemplateStringsArray, ...ids: unknown[]): string {
  return texts.reduce((whole, text, n) => `${whole}${encodeId(ids[n - 1])}${text}`)
}

function encodeId(id: unknown): string {
  if (typeof id !== 'string' || id === '' || id === '.' || id === '..') {
    throw new LoamError(`An id must be a text that is not empty, not ${JSON.stringify(id) ?? String(id)}`)
  }
  return encodeURIComponent(id)
}

/** Returns the path of a sheet with what follows. */
export function sheetPath(sheet: SheetRef, rest = ''): string {
  const { workflow_id, sheet_id } =
    typeof sheet === 'string' ? { workflow_id: sheet, sheet_id: sheet } : (sheet ?? {})
  return `${path`/workflows/${workflow_id}/sheets/${sheet_id}`}${rest}`
}
