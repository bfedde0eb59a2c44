import { queryOptions } from '@tanstack/react-query'
import type { SourceType } from '#contract/screens.ts'
import { ApiError, get } from '../../api/client.ts'

export type SourceField = SourceType['fields'][number]

export const sourceTypesQuery = queryOptions({
  queryKey: ['source-types'],
  queryFn: ({ signal }) => get<SourceType[]>('/internal/source-types', signal),
  staleTime: Number.POSITIVE_INFINITY,
})

/** What was typed as the API wants it, nothing for what was left empty. Throws where a field that takes JSON holds none. */
export function readFields(fields: readonly SourceField[], typed: Record<string, string>) {
  return Object.fromEntries(
    fields.flatMap((field) => {
      const text = typed[field.name]?.trim() ?? ''
      return text === '' ? [] : [[field.name, readValue(field, text)]]
    }),
  )
}

function readValue({ name, type }: SourceField, text: string): unknown {
  if (type === 'number') return Number.isFinite(Number(text)) ? Number(text) : text
  if (type === 'boolean') return text === 'true'
  if (type === 'list') {
    return text
      .split('\n')
      .map((line) => line.trim())
      .filter((line) => line !== '')
  }
  if (type !== 'json') return text
  try {
    return JSON.parse(text) as unknown
  } catch {
    const fields = [{ field: name, message: 'must be JSON' }]
    throw new ApiError(`${name}: must be JSON`, { status: 400, code: 'Validation Error', fields })
  }
}
