import type { Command } from 'commander'
import { z } from 'zod'
import { listKeysFor, type ListedKey } from '#server/organisation/key-list.ts'
import { createKey, endKey, type KeyOptions, rotateKey } from '#server/organisation/keys.ts'
import { OPERATOR } from '#server/organisation/store/audit.ts'
import { DateTime, Duration, examples, KeyId, KnownEmail, List, Org, PerMinute, UuidList } from '../flags.ts'
import { formatDetails, formatOnce, formatTable, formatTime } from '../output.ts'
import { inSession, requireMember, resolveOrganisation } from '../session.ts'

const CreateFlags = z.strictObject({
  org: Org,
  email: KnownEmail,
  scopes: List.exactOptional(),
  allowedWorkflows: UuidList.exactOptional(),
  rateLimit: PerMinute.exactOptional(),
  expires: DateTime.exactOptional(),
})

const ORG = ['--org <org_id>', 'organisation; required if there are several'] as const

export function define(key: Command): void {
  key.addHelpText(
    'after',
    examples(
      'loam key create --email ann@example.com',
      'loam key list',
      'loam key rotate <key_id> --overlap 24h',
    ),
  )
  defineCreate(key)
  defineList(key)
  defineRotate(key)
  defineRevoke(key)
}

function defineCreate(key: Command): void {
  key
    .command('create')
    .description('Issue an API key that acts for a member; by default with all scopes of their role')
    .requiredOption('--email <address>', 'the member')
    .option('--scopes <list>', 'only these scopes, separated by commas')
    .option('--allowed-workflows <list>', 'only these workflow ids, separated by commas')
    .option('--rate-limit <number>', 'requests per minute, instead of LOAM_RATE_LIMIT_PER_MINUTE')
    .option('--expires <time>', 'ISO 8601 date-time at which it stops working')
    .option(...ORG)
    .addHelpText(
      'after',
      examples(
        'loam key create --email ann@example.com',
        'loam key create --email ann@example.com --scopes workflows:read,workflows:run --expires 2030-01-31T12:00:00Z',
      ),
    )
    .action(
      inSession(CreateFlags, async ({ db }, flags) => {
        const organisation = await resolveOrganisation(db, flags)
        const member = await requireMember(db, organisation, flags.email)
        const issued = await createKey(
          db,
          OPERATOR,
          { orgId: organisation.org_id, member },
          keyOptions(flags),
        )
        const { key_id } = issued.record
        return {
          data: { key_id, key: issued.key, scopes: issued.scopes },
          text: () =>
            formatDetails(`Created a key for ${member.email}`, [
              ['key', formatOnce(issued.key)],
              ['key_id', key_id],
              ['scopes', issued.scopes.join(', ')],
            ]),
        }
      }),
    )
}

function defineList(key: Command): void {
  key
    .command('list')
    .description('List keys, including ended ones; never the keys themselves')
    .option('--email <address>', 'only those of this member')
    .option(...ORG)
    .addHelpText('after', examples('loam key list', 'loam key list --email ann@example.com --json'))
    .action(
      inSession(z.strictObject({ org: Org, email: KnownEmail.exactOptional() }), async ({ db }, flags) => {
        const organisation = await resolveOrganisation(db, flags)
        if (flags.email !== undefined) await requireMember(db, organisation, flags.email)
        const keys = await listKeysFor(db, organisation.org_id, flags.email)
        return { data: keys, text: () => formatKeys(keys) }
      }),
    )
}

function defineRotate(key: Command): void {
  key
    .command('rotate')
    .description('Replace a key by a new one with the same rights')
    .argument('<key_id>', 'as `loam key list` shows it')
    .option('--overlap <duration>', 'how long the old key stays valid: 30s, 10m, 24h, 7d', '0')
    .addHelpText('after', examples('loam key rotate <key_id> --overlap 24h'))
    .action(
      inSession(z.strictObject({ key_id: KeyId, overlap: Duration }), async ({ db }, flags) => {
        const rotated = await rotateKey(db, OPERATOR, flags.key_id, flags.overlap)
        const { key_id } = rotated.record
        return {
          data: {
            key_id,
            key: rotated.key,
            replaces: flags.key_id,
            old_expires_at: rotated.oldExpiresAt,
          },
          text: () =>
            formatDetails(`Rotated the key ${flags.key_id}`, [
              ['key', formatOnce(rotated.key)],
              ['key_id', key_id],
              [
                'old key',
                flags.overlap === 0 ? 'revoked' : `works until ${formatTime(rotated.oldExpiresAt)}`,
              ],
            ]),
        }
      }),
    )
}

function defineRevoke(key: Command): void {
  key
    .command('revoke')
    .description('End a key at once')
    .argument('<key_id>', 'as `loam key list` shows it')
    .addHelpText('after', examples('loam key revoke <key_id>'))
    .action(
      inSession(z.strictObject({ key_id: KeyId }), async ({ db }, { key_id }) => {
        await endKey(db, OPERATOR, key_id)
        return { data: { key_id, revoked: true }, text: () => `Revoked the key ${key_id}.` }
      }),
    )
}

function keyOptions(flags: z.infer<typeof CreateFlags>): KeyOptions {
  const options: KeyOptions = {}
  if (flags.scopes !== undefined) options.scopes = flags.scopes
  if (flags.allowedWorkflows !== undefined) options.allowedWorkflowIds = flags.allowedWorkflows
  if (flags.rateLimit !== undefined) options.perMinute = flags.rateLimit
  if (flags.expires !== undefined) options.expiresAt = flags.expires
  return options
}

function formatKeys(keys: ListedKey[]): string {
  return formatTable(
    ['KEY ID', 'EMAIL', 'ENDS IN', 'STATUS', 'LAST USED', 'EXPIRES', 'SCOPES'],
    keys.map((key) => [
      key.key_id,
      key.email ?? '-',
      key.last4,
      key.status,
      formatTime(key.last_used_at),
      formatTime(key.expires_at),
      formatScopes(key.scopes),
    ]),
    'No keys.',
  )
}

function formatScopes(scopes: string[]): string {
  const shown = scopes.slice(0, 3)
  return [...shown, ...(scopes.length > shown.length ? [`+${scopes.length - shown.length}`] : [])].join(' ')
}
