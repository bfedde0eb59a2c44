import type { Command } from 'commander'
import { z } from 'zod'
import { builtIn } from '#server/catalog/providers/built_in/provider.ts'
import { OPERATOR } from '#server/organisation/store/audit.ts'
import { listSourceOptions } from '#server/sources/options.ts'
import { previewSource } from '#server/sources/preview.ts'
import { createSource, openRequest } from '#server/sources/pulls/create.ts'
import { findReception } from '#server/sources/pulls/inbox/reception.ts'
import { toCallerError } from '#server/sources/refusals.ts'
import { loadSources } from '#server/sources/registry.ts'
import { MAX_PREVIEW } from '#server/sources/request.ts'
import { examples, KnownEmail, Org } from '../flags.ts'
import { formatTable } from '../output.ts'
import { serverAddress } from '../server-address.ts'
import { inSession } from '../session.ts'
import { defineChanging } from '../source-changing.ts'
import { formatReception, formatRecords } from '../source-output.ts'
import { defineReading } from '../source-reading.ts'
import { Pair, pickSource, readBody, readPairs, withProviders } from '../source-session.ts'

const ORG = ['--org <org_id>', 'organisation; required if there are several'] as const
const EMAIL = ['--email <address>', 'the owner, whose private connections can be used too'] as const
const SLUG = ['<source_id>', 'the type of source, such as search_x_tweets'] as const
const BODY = ['--body <file>', 'JSON object with the fields of the source'] as const
const SET = ['--set <fields...>', 'name=value for single fields; values may be JSON'] as const

const Body = { body: z.string().exactOptional(), set: Pair.exactOptional() }
const Owner = { org: Org, email: KnownEmail.exactOptional() }
const MakeFlags = z.strictObject({ source_id: z.string(), ...Body, ...Owner })
const OptionFlags = z.strictObject({
  source_id: z.string(),
  field: z.string(),
  context: Pair.exactOptional(),
  ...Owner,
})

export function define(source: Command): void {
  source.addHelpText(
    'after',
    examples(
      'loam source preview search_x_tweets --set query="data engineer"',
      'loam source create import_from_hubspot --body contacts.json',
      'loam source sync <id> --workflow <workflow_id> --map input.name=full_name',
    ),
  )
  defineMaking(source)
  defineReading(source)
  defineChanging(source)
}

function defineMaking(source: Command): void {
  defineTypes(source)
  definePreview(source)
  defineCreate(source)
  defineOptions(source)
}

function defineTypes(source: Command): void {
  source
    .command('types')
    .description('List the types of sources with their fields')
    .addHelpText('after', examples('loam source types', 'loam source types --json'))
    .action(
      inSession(z.strictObject({}), async () => {
        const types = (await loadSources())
          .list()
          .map(({ slug, name, description, mode, body, options, pulls, receives }) => ({
            source_id: slug,
            name,
            description,
            mode,
            fields: Object.keys(body.shape),
            options: Object.keys(options),
            providers: receives === null ? pulls.map(({ provider }) => provider.id) : [receives.from.id],
          }))
        const lines = types.map((one) => [
          one.source_id,
          one.mode,
          one.providers.join(', '),
          one.fields.join(', '),
        ])
        return {
          data: types,
          text: () => formatTable(['SOURCE', 'MODE', 'ASKS', 'FIELDS'], lines, 'No sources.'),
        }
      }),
    )
}

function definePreview(source: Command): void {
  source
    .command('preview')
    .description('Show the first rows of a source; nothing is stored and nothing costs credits')
    .argument(...SLUG)
    .option(...BODY)
    .option(...SET)
    .option(...EMAIL)
    .option(...ORG)
    .addHelpText('after', examples('loam source preview search_x_tweets --set query="data engineer" limit=5'))
    .action(
      inSession(MakeFlags, (session, flags) =>
        withProviders(session, flags, async ({ sources, keys, services }) => {
          const type = pickSource(sources, flags.source_id)
          const { request, reached } = await openRequest(type, readBody(flags), keys, services)
          const preview = await previewSource(type, reached, request, services)
          if ('kind' in preview) throw toCallerError(preview, reached?.pull.provider ?? builtIn, 'body')
          const { rows, total, capped } = preview
          const data = { data: rows, metadata: { total_results: total, ...(capped ? { capped } : {}) } }
          return {
            data,
            text: () =>
              `${formatRecords(rows)}\n${total}${capped && total <= MAX_PREVIEW ? ' and more' : ''} in total.`,
          }
        }),
      ),
    )
}

function defineCreate(source: Command): void {
  source
    .command('create')
    .description('Create a source; the server imports its records automatically')
    .argument(...SLUG)
    .option(...BODY)
    .option(...SET)
    .option(...EMAIL)
    .option(...ORG)
    .addHelpText(
      'after',
      examples(
        'loam source create search_x_tweets --set query="data engineer" max_count=100',
        'loam source create track_x_posts --body query.json --set schedule=hourly stop_at=2030-01-31T00:00:00Z',
      ),
    )
    .action(
      inSession(MakeFlags, (session, flags) =>
        withProviders(session, flags, async ({ sources, keys, services, orgId, memberId }) => {
          const type = pickSource(sources, flags.source_id)
          const opened = await openRequest(type, readBody(flags), keys, services)
          const made = await createSource(
            session.db,
            OPERATOR,
            { orgId, memberId },
            { source: type, sealer: session.sealer, ...opened },
          )
          const { instance_id, name, created_at } = made
          const publicUrl = session.config.LOAM_PUBLIC_URL ?? serverAddress(session.config)
          const { reception } = await findReception(session.db, session.sealer, publicUrl, {
            record: made,
            source: type,
          })
          return {
            data: { source_instance_id: instance_id, name, created_at, ...reception },
            text: () =>
              [
                `Created ${name} as ${instance_id}; see loam source show ${instance_id}.`,
                ...formatReception(reception),
              ].join('\n'),
          }
        }),
      ),
    )
}

function defineOptions(source: Command): void {
  source
    .command('options')
    .description('List the choices for a field of a source')
    .argument(...SLUG)
    .argument('<field>', 'the field, as `loam source types` shows it')
    .option('--context <pairs...>', 'name=value for what the field depends on, such as object_type=contacts')
    .option(...EMAIL)
    .option(...ORG)
    .addHelpText(
      'after',
      examples('loam source options import_from_hubspot hubspot_properties --context object_type=contacts'),
    )
    .action(
      inSession(OptionFlags, (session, flags) =>
        withProviders(session, flags, async ({ sources, keys, services }) => {
          const type = pickSource(sources, flags.source_id)
          const context = readPairs(flags.context ?? [])
          const options = await listSourceOptions(type, flags.field, context, { keys, services })
          const lines = options.map(({ value, label }) => [value, label])
          return { data: { options }, text: () => formatTable(['VALUE', 'LABEL'], lines, 'No options.') }
        }),
      ),
    )
}
