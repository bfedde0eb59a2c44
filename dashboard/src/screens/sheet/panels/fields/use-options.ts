import { useQuery } from '@tanstack/react-query'
import { ApiError } from '../../../../api/client.ts'
import { keys } from '../../../../api/keys.ts'
import { fetchTemplateOptions } from '../../../../api/sheet.ts'
import { useSheet } from '../../sheet-view.ts'
import { hasToken } from '../../tokens.ts'
import { type Descriptor, type PanelFacts, usePanel } from './panel-context.ts'

/** Loads the options of a field for the values that stand in the panel. `note` says why there are none. */
export function useOptions(field: Descriptor) {
  const { sheet } = useSheet()
  const { template, values } = usePanel()
  const context = parentValues(template, values, field.name)
  const query = useQuery({
    queryKey: keys.sheet(sheet.sheetId).options(template.action_id, field.name, JSON.stringify(context)),
    enabled: field.options === undefined,
    staleTime: 60_000,
    retry: false,
    queryFn: () => fetchTemplateOptions(sheet, { template: template.action_id, field: field.name, context }),
  })
  const note = query.error === null ? query.data?.warning : explain(query.error, template)
  return { options: query.data?.options ?? [], note: note ?? undefined, isLoaded: query.data !== undefined }
}

/** Returns the chosen values of the other dropdowns, on which the options may depend. */
function parentValues(
  { inputs }: PanelFacts['template'],
  values: PanelFacts['values'],
  own: string,
): Record<string, string> {
  const parents = inputs.filter(
    ({ name, kind }) => name !== own && (kind === 'choice' || kind === 'connection'),
  )
  return Object.fromEntries(
    parents.flatMap(({ name }) => {
      const value = values[name]
      return typeof value === 'string' && value !== '' && !hasToken(value) ? [[name, value]] : []
    }),
  )
}

/** Returns why options cannot be loaded, with the labels of the fields to choose first. */
function explain(error: Error, { inputs }: PanelFacts['template']): string {
  if (!(error instanceof ApiError)) return 'The choices could not be loaded'
  const missing = error.fields.flatMap(({ field, message }) =>
    message === 'required' ? inputs.filter(({ name }) => field === `context.${name}`) : [],
  )
  if (missing.length > 0) return `Choose first: ${missing.map(({ label }) => label).join(', ')}`
  return error.fields[0]?.message ?? error.message
}
