import type { FastifyRequest } from 'fastify'
import { z } from 'zod'
import { FieldOptions, FieldOptionsBody } from '#contract/actions.ts'
import { success } from '#contract/envelope.ts'
import { Waterfall, WaterfallQuery } from '#contract/waterfalls.ts'
import { ok } from '../../../api/http/envelope.ts'
import type { RouteServices } from '../../../api/http/event-streams.ts'
import type { Api } from '../../../api/services.ts'
import { requireTemplate } from '../../../catalog/catalogue-entry.ts'
import { fieldOf } from '../../../catalog/configuration/references.ts'
import { notFound } from '../../../lib/errors.ts'
import { createRunEnvironment } from '../../../runs/run-environment.ts'
import type { SheetRecord } from '../../store/sheets.ts'
import { hasOptions, listOptions, warnOfNoOptions } from '../actions/action-options.ts'
import { readWaterfall } from '../actions/waterfalls.ts'
import { sheetOfPath, SheetParams } from '../workflows/resources.ts'

const Params = SheetParams.extend({ action_id: z.string(), field_name: z.string() })

/**
 * Registers the endpoints that list the options of a field for values that are not saved, and what its waterfall asks. An action that is not added yet has
 * no id to ask by, and the connection of one that is may have been changed on the screen.
 */
export function fieldOptionRoutes(
  api: Api,
  { catalogue, prices, config, egress, store, sealer }: RouteServices,
): void {
  const environment = createRunEnvironment(store, sealer, config.providerKeys)
  const services = { config, egress, keysOf: (sheet: SheetRecord) => environment.keysOf(sheet) }
  /** Resolves the template of the path and its field, which must have options. */
  const fieldOfPath = async (request: FastifyRequest): Promise<void> => {
    await sheetOfPath(request)
    const { action_id, field_name } = Params.parse(request.params)
    const template = requireTemplate(catalogue, action_id, 'GET /actions lists them')
    const field = fieldOf(template, field_name)
    if (field === undefined || !hasOptions(field)) throw notFound('Field')
    request.action = { id: '', action_id, display_name: '', inputs: {}, epoch: 0 }
  }

  api.post(
    '/workflows/:workflow_id/sheets/:sheet_id/templates/:action_id/options/:field_name',
    {
      config: {
        scope: 'actions:read',
        waits: true,
        callsOut: 'repeatable',
        body: 'control',
        resource: fieldOfPath,
      },
      schema: {
        params: Params,
        body: FieldOptionsBody,
        response: { 200: success(200, FieldOptions) },
      },
    },
    async (request) => {
      const { action_id, field_name } = request.params
      const priced = await prices.current(request.db)
      const field = fieldOf(priced.catalogue.get(action_id), field_name)
      if (field === undefined) throw notFound('Field')
      const options = await listOptions(field, request, request.body.context ?? {}, services)
      if (options.length === 0) request.warnings.push(warnOfNoOptions(field))
      return ok({ options })
    },
  )

  api.get(
    '/workflows/:workflow_id/sheets/:sheet_id/templates/:action_id/waterfall/:field_name',
    {
      config: { scope: 'actions:read', resource: fieldOfPath },
      schema: { params: Params, querystring: WaterfallQuery, response: { 200: success(200, Waterfall) } },
    },
    async (request) => {
      const { action_id, field_name } = request.params
      const priced = await prices.current(request.db)
      const waterfall = fieldOf(priced.catalogue.get(action_id), field_name)?.waterfall
      if (waterfall === undefined) throw notFound('Field')
      const asked = { field: field_name, waterfall, all: request.query.all === 'true' }
      return ok(await readWaterfall(request, asked, { config, egress }))
    },
  )
}
