import type { FastifyRequest } from 'fastify'
import { z } from 'zod'
import { success, Uuid } from '#contract/envelope.ts'
import { ConnectableProvider, Connection, ConnectionTest, NewConnectionBody } from '#contract/settings.ts'
import type { Caller } from '../../../api/http/caller.ts'
import { created, ok } from '../../../api/http/envelope.ts'
import type { Api, Services } from '../../../api/services.ts'
import type { Provider } from '../../../catalog/provider/provider.ts'
import { loadProviders } from '../../../catalog/providers/registry.ts'
import { forbidden, notFound } from '../../../lib/errors.ts'
import { testConnection } from '../../connection-test.ts'
import { addConnection, pickProvider, removeConnection, takesConnection } from '../../connections.ts'
import { listCredentialFields } from '../../credential-words.ts'
import {
  type ConnectionRecord,
  findConnection,
  listConnections,
  listConnectionUses,
} from '../../store/connections.ts'

const Params = z.strictObject({ connection_id: Uuid })

declare module 'fastify' {
  interface FastifyRequest {
    /** The connection in the path, which the caller may use. Set by `requireConnectionInPath`. */
    connection: ConnectionRecord
  }
}

/** Adds the settings of provider connections: shared ones and the caller's own. */
export function connectionSettings(api: Api, services: Services): void {
  api.decorateRequest('connection')
  defineProviders(api)
  defineList(api)
  defineAdd(api, services)
  defineTest(api, services)
  defineRemove(api)
}

function defineProviders(api: Api): void {
  api.get(
    '/providers',
    {
      config: { scope: 'any key' },
      schema: { response: { 200: success(200, z.array(ConnectableProvider)) } },
    },
    async () => {
      const providers = (await loadProviders()).filter(takesConnection)
      return ok(
        providers
          .map((provider) => ({
            provider: provider.id,
            name: provider.name,
            field_sets: provider.fields.sets.map((set) => [...set]),
            optional_fields: [...provider.fields.others],
            fields: listCredentialFields(provider),
          }))
          .sort((a, b) => (a.name < b.name ? -1 : 1)),
      )
    },
  )
}

function defineList(api: Api): void {
  api.get(
    '/connections',
    { config: { scope: 'any key' }, schema: { response: { 200: success(200, z.array(Connection)) } } },
    async ({ db, caller }) => {
      const [all, uses, providers] = await Promise.all([
        listConnections(db, caller.orgId),
        listConnectionUses(db, caller.orgId),
        loadProviders(),
      ])
      const names = new Map(providers.map(({ id, name }) => [id, name]))
      const visible = all.filter(
        ({ shared, owner }) => shared || owner === caller.email || caller.role === 'admin',
      )
      return ok(
        visible.map((one) => ({
          ...one,
          provider_name: names.get(one.provider) ?? one.provider,
          created_at: one.created_at.toISOString(),
          used_by: uses
            .filter((use) => use.connection_id === one.connection_id && maySee(caller, use))
            .map(({ workflow_id, name }) => ({ workflow_id, name })),
          may_remove: caller.role === 'admin' || one.owner === caller.email,
        })),
      )
    },
  )
}

function defineAdd(api: Api, { sealer }: Services): void {
  api.post(
    '/connections',
    {
      config: { scope: 'any key', body: 'control' },
      schema: {
        body: NewConnectionBody,
        response: {
          201: success(201, z.object({ connection_id: Uuid, provider: z.string(), name: z.string() })),
        },
      },
    },
    async ({ db, caller, body }) => {
      if (body.shared && caller.role === 'user') {
        throw forbidden('Your role may only connect providers for your own use: leave `shared` off')
      }
      const provider: Provider = pickProvider((await loadProviders()).filter(takesConnection), body.provider)
      const made = await addConnection(db, sealer, caller, {
        orgId: caller.orgId,
        provider,
        name: body.name ?? provider.name,
        ownerId: caller.memberId,
        shared: body.shared,
        fields: body.fields,
      })
      return created(made)
    },
  )
}

function defineTest(api: Api, { sealer, egress }: Services): void {
  api.post(
    '/connections/:connection_id/test',
    {
      config: {
        scope: 'any key',
        body: 'control',
        resource: requireConnectionInPath,
        waits: true,
        callsOut: 'repeatable',
      },
      schema: { params: Params, response: { 200: success(200, ConnectionTest) } },
    },
    async ({ db, connection }) => {
      const provider = pickProvider(await loadProviders(), connection.provider)
      const tested = await testConnection({ db, sealer, egress }, provider, connection)
      return ok({ connection_id: connection.connection_id, ...tested })
    },
  )
}

function defineRemove(api: Api): void {
  api.delete(
    '/connections/:connection_id',
    {
      config: { scope: 'any key', body: 'control', resource: requireConnectionInPath },
      schema: { params: Params, response: { 200: success(200, z.object({ connection_id: Uuid })) } },
    },
    async ({ db, caller, connection }) => {
      if (caller.role !== 'admin' && connection.owner_id !== caller.memberId) {
        throw forbidden('Only the owner of a connection or an administrator may remove it')
      }
      await removeConnection(db, caller, connection.connection_id)
      return ok({ connection_id: connection.connection_id })
    },
  )
}

async function requireConnectionInPath(request: FastifyRequest): Promise<void> {
  const { db, caller, params } = request
  const found = await findConnection(db, (params as z.infer<typeof Params>).connection_id)
  if (found?.org_id !== caller.orgId) throw notFound('Connection')
  if (!found.shared && found.owner_id !== caller.memberId && caller.role !== 'admin')
    throw notFound('Connection')
  request.connection = found
}

/** Returns true if the caller may see the name of this workflow: its owner may, and administrators. */
function maySee(caller: Caller, { owner_id }: { owner_id: string | null }): boolean {
  return caller.role === 'admin' || owner_id === caller.memberId
}
