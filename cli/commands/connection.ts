import type { Command } from 'commander'
import { z } from 'zod'
import { loadProviders } from '#server/catalog/providers/registry.ts'
import type { Db } from '#server/database/connection/db.ts'
import { notFound } from '#server/lib/errors.ts'
import { isUuid } from '#server/lib/ids.ts'
import { testConnection } from '#server/organisation/connection-test.ts'
import {
  addConnection,
  pickProvider,
  removeConnection,
  requireConnection,
  takesConnection,
} from '#server/organisation/connections.ts'
import { OPERATOR } from '#server/organisation/store/audit.ts'
import { listConnections } from '#server/organisation/store/connections.ts'
import { withNetwork } from '#server/process/network.ts'
import { EXIT } from '../failure.ts'
import { examples, KnownEmail, Org } from '../flags.ts'
import { formatDetails, formatTable, formatTime } from '../output.ts'
import { inSession, requireMember, resolveOrganisation } from '../session.ts'
import { readSecret } from '../terminal.ts'

const ConnectionId = z
  .string()
  .toLowerCase()
  .refine(isUuid, 'must be a UUID, as `loam connection list` shows it')

const ByIdFlags = z.strictObject({ connection_id: ConnectionId, org: Org })

/** Finds a connection by its id. A connection of another organisation than the one named is not found. */
async function requireConnectionOf(db: Db, id: string, org: string | undefined) {
  const record = await requireConnection(db, id)
  if (org !== undefined && record.org_id !== org) throw notFound(`Connection ${id}`)
  return record
}

const Pairs = z.array(z.string()).transform((pairs, context) => {
  const entries = pairs.map((pair) => /^([^=]+)=(.*)$/s.exec(pair)?.slice(1, 3) ?? [])
  if (entries.some(([key]) => key === undefined)) context.addIssue('must be of the form name=value')
  return Object.fromEntries(entries.map(([key = '', value = '']) => [key.trim(), value]))
})

const AddFlags = z.strictObject({
  org: Org,
  provider: z.string(),
  name: z.string().trim().exactOptional(),
  secret: z.string().exactOptional(),
  field: Pairs.default({}),
  email: KnownEmail.exactOptional(),
  shared: z.literal(true).exactOptional(),
  private: z.literal(true).exactOptional(),
})

const ORG = ['--org <org_id>', 'organisation; required if there are several'] as const
const collect = (value: string, before: string[] = []) => [...before, value]

export function define(connection: Command): void {
  connection.addHelpText(
    'after',
    examples('loam connection add --provider hunter --name Main --secret -', 'loam connection list'),
  )
  defineAdd(connection)
  defineList(connection)
  defineTest(connection)
  defineRemove(connection)
}

function defineAdd(connection: Command): void {
  connection
    .command('add')
    .description('Connect a provider with your own key; it is stored encrypted and never shown')
    .requiredOption('--provider <id>', 'the provider: hunter, hubspot, ...')
    .option('--name <name>', 'name of the connection (default the name of the provider)')
    .option('--secret <key>', 'API key or access token; - reads it from standard input')
    .option(
      '--field <name=value>',
      'one part of the key, if the provider has several; repeat it for each',
      collect,
    )
    .option('--email <address>', 'the member who owns it; removing the member removes it')
    .option('--shared', 'everybody in the organisation may use it (the default)')
    .option('--private', "only its owner's workflows may use it; needs --email")
    .option(...ORG)
    .addHelpText(
      'after',
      examples(
        'loam connection add --provider hunter --name Main --secret - < key.txt',
        'loam connection add --provider hubspot --name CRM --field client_id=... --field client_secret=... --field refresh_token=...',
      ),
    )
    .action(
      inSession(AddFlags, async ({ db, sealer, terminal }, flags) => {
        const provider = pickProvider((await loadProviders()).filter(takesConnection), flags.provider)
        const organisation = await resolveOrganisation(db, flags)
        const owner = flags.email === undefined ? null : await requireMember(db, organisation, flags.email)
        const secret = flags.secret === undefined ? undefined : await readSecret(flags.secret, terminal)
        const made = await addConnection(db, sealer, OPERATOR, {
          orgId: organisation.org_id,
          provider,
          name: flags.name ?? provider.name,
          ownerId: owner?.member_id ?? null,
          shared: flags.private !== true,
          fields: { ...flags.field, ...(secret === undefined ? {} : { secret }) },
        })
        return {
          data: made,
          text: () =>
            formatDetails(`Connected ${provider.name}`, [
              ['connection_id', made.connection_id],
              ['name', made.name],
            ]),
        }
      }),
    )
}

function defineList(connection: Command): void {
  connection
    .command('list')
    .description('List connections; never their secrets')
    .option(...ORG)
    .addHelpText('after', examples('loam connection list', 'loam connection list --json'))
    .action(
      inSession(z.strictObject({ org: Org }), async ({ db }, flags) => {
        const connections = await listConnections(db, (await resolveOrganisation(db, flags)).org_id)
        return {
          data: connections,
          text: () =>
            formatTable(
              ['CONNECTION', 'PROVIDER', 'NAME', 'OWNER', 'FOR', 'CREATED'],
              connections.map((one) => [
                one.connection_id,
                one.provider,
                one.name,
                one.owner ?? '(organisation)',
                one.shared ? 'everybody' : 'its owner',
                formatTime(one.created_at),
              ]),
              'No connections.',
            ),
        }
      }),
    )
}

function defineTest(connection: Command): void {
  connection
    .command('test')
    .description('Call the provider with the connection, using its cheapest call')
    .argument('<connection_id>', 'as `loam connection list` shows it')
    .option(...ORG)
    .addHelpText('after', examples('loam connection test <connection_id>'))
    .action(
      inSession(ByIdFlags, async (session, { connection_id, org }) => {
        const record = await requireConnectionOf(session.db, connection_id, org)
        const provider = pickProvider(await loadProviders(), record.provider)
        const { ok, message } = await withNetwork(session.config, ({ egress }) =>
          testConnection({ ...session, egress }, provider, record),
        )
        return {
          ...(ok ? {} : { exit: EXIT.failed }),
          data: { connection_id, provider: provider.id, name: record.name, ok, message },
          text: () => `${provider.name} (${record.name}): ${message}`,
        }
      }),
    )
}

function defineRemove(connection: Command): void {
  connection
    .command('remove')
    .description('Delete a connection and its secrets')
    .argument('<connection_id>', 'as `loam connection list` shows it')
    .option(...ORG)
    .addHelpText('after', examples('loam connection remove <connection_id>'))
    .action(
      inSession(ByIdFlags, async ({ db }, { connection_id, org }) => {
        await requireConnectionOf(db, connection_id, org)
        const { provider, name } = await removeConnection(db, OPERATOR, connection_id)
        return {
          data: { connection_id, removed: true },
          text: () => `Removed the connection ${name} to ${provider}.`,
        }
      }),
    )
}
