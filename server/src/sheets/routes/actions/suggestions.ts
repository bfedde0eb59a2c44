import { z } from 'zod'
import { Suggestion } from '#contract/actions.ts'
import { success } from '#contract/envelope.ts'
import { ok } from '../../../api/http/envelope.ts'
import type { Api, Services } from '../../../api/services.ts'
import { printToken } from '../../../catalog/chain/references.ts'
import type { SampledColumn } from '../../../catalog/configuration/column-kinds.ts'
import { suggestActions } from '../../../catalog/configuration/suggestions.ts'
import { sampleColumns } from '../../store/column-samples.ts'
import { SheetParams } from '../workflows/resources.ts'
import { chainOfPath, readChain } from './action-resources.ts'
import { BASE } from './actions.ts'

/** Registers the endpoint that suggests actions for the columns of a sheet. */
export function suggestionRoutes(api: Api, { catalogue }: Pick<Services, 'catalogue'>): void {
  api.get(
    `${BASE}/suggestions`,
    {
      config: { scope: 'actions:read', resource: chainOfPath },
      schema: {
        tags: ['Actions'],
        summary: 'Suggest actions for the columns of a sheet',
        params: SheetParams,
        response: { 200: success(200, z.array(Suggestion)) },
      },
    },
    async (request) => {
      const { db, sheet } = request
      const [chain, samples] = await Promise.all([readChain(catalogue, request), sampleColumns(db, sheet)])
      const { inputs, actions } = chain.definition
      const outputs = actions.flatMap(({ id, display_name }): SampledColumn[] =>
        (chain.links.get(id)?.outputs ?? []).map(({ name, type, reference }) => ({
          name: `${display_name} › ${name}`,
          type: type === 'url' ? 'string' : type,
          token: reference,
          samples: [],
        })),
      )
      const suggestions = suggestActions({
        inputs: inputs.map(({ name, type, column }) => ({
          name,
          type,
          token: printToken({ kind: 'input', name }),
          samples: samples.get(column) ?? [],
        })),
        outputs,
        actions,
      })
      return ok(suggestions.filter(({ action_id }) => catalogue.get(action_id) !== undefined))
    },
  )
}
