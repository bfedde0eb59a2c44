import { z } from 'zod'
import { success } from '#contract/envelope.ts'
import { SourceType } from '#contract/screens.ts'
import { ok } from '../../api/http/envelope.ts'
import type { Api, Services } from '../../api/services.ts'
import { listFieldForms, listProviders } from '../field-forms.ts'

/** Lists every type of source with the fields of its form. */
export function sourceTypeRoutes(api: Api, { sources }: Pick<Services, 'sources'>): void {
  // Built on first use: the types do not change while the process runs.
  let types: SourceType[] | undefined
  api.get(
    '/source-types',
    {
      config: { scope: 'sources:read' },
      schema: { response: { 200: success(200, z.array(SourceType)) } },
    },
    async () => {
      types ??= sources.list().map((source) => ({
        source_id: source.slug,
        name: source.name,
        description: source.description,
        fields: listFieldForms(source),
        providers: listProviders(source),
        record_fields: source.fields === null ? null : [...source.fields],
      }))
      return ok(types)
    },
  )
}
