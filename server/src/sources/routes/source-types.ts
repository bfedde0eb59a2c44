import { z } from 'zod'
import { success } from '#contract/envelope.ts'
import { SourceType } from '#contract/screens.ts'
import { ok } from '../../api/http/envelope.ts'
import type { Api, Services } from '../../api/services.ts'
import type { Source } from '../define.ts'
import { listFieldForms, listProviders } from '../field-forms.ts'
import { listAccounts, readConnected } from '../pulls/accounts.ts'

/** Lists every type of source with the fields of its form. Only `accounts` differ between members. */
export function sourceTypeRoutes(
  api: Api,
  { sources, config, egress }: Pick<Services, 'sources' | 'config' | 'egress'>,
): void {
  // Built on first use: the types do not change while the process runs.
  let types: [Source, Omit<SourceType, 'accounts'>][] | undefined
  api.get(
    '/source-types',
    {
      config: { scope: 'sources:read' },
      schema: { response: { 200: success(200, z.array(SourceType)) } },
    },
    async ({ db, caller: { orgId, memberId } }) => {
      types ??= sources.list().map((source) => [source, viewType(source)])
      const connected = await readConnected(db, { org_id: orgId, member_id: memberId })
      return ok(
        types.map(([source, type]) => ({
          ...type,
          accounts: listAccounts(source, connected, { config, egress }),
        })),
      )
    },
  )
}

function viewType(source: Source): Omit<SourceType, 'accounts'> {
  return {
    source_id: source.slug,
    name: source.name,
    description: source.description,
    mode: source.mode,
    receives: source.receives !== null,
    fields: listFieldForms(source),
    providers: listProviders(source),
    record_fields: source.fields === null ? null : [...source.fields],
  }
}
