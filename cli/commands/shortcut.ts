import type { Command } from 'commander'
import { z } from 'zod'
import { invalid, notFound } from '#server/lib/errors.ts'
import { isUuid } from '#server/lib/ids.ts'
import { OPERATOR } from '#server/organisation/store/audit.ts'
import { findOrganisationOfWorkflow, listOwnedWorkflows } from '#server/sheets/store/workflows.ts'
import { setShortcutState, shareShortcut, updateShortcutDetails } from '#server/shortcuts/lifecycle.ts'
import { publishShortcut, republishShortcut } from '#server/shortcuts/publish.ts'
import { listShortcuts } from '#server/shortcuts/store/shortcuts.ts'
import { viewShortcut } from '#server/shortcuts/view.ts'
import { examples, KnownEmail, Org } from '../flags.ts'
import { formatTable } from '../output.ts'
import { inSession, requireMember, resolveOrganisation, wantsJson } from '../session.ts'
import { RunFlags, runShortcut } from '../shortcut-run.ts'
import {
  shortcutOutput,
  DetailsFlags,
  openPublisher,
  readSchemas,
  requireShortcut,
  SchemaFlags,
  ShortcutId,
  stateOf,
} from '../shortcut-session.ts'
import { terminalOf } from '../terminal.ts'

const ID = ['<id>', 'as `loam shortcut list` shows it'] as const

const PublishFlags = z.strictObject({
  ...DetailsFlags,
  ...SchemaFlags,
  name: DetailsFlags.name.unwrap(),
  org: Org,
  workflow: z.string().toLowerCase().refine(isUuid, 'must be a UUID, as `loam workflow list` shows it'),
  email: KnownEmail.exactOptional(),
})

export function define(shortcut: Command): void {
  shortcut.addHelpText(
    'after',
    examples(
      'loam shortcut publish --workflow <workflow_id> --name "Find email"',
      'loam shortcut run <id> --input domain=example.com',
      'loam shortcut share <id> --email bob@example.com',
    ),
  )
  definePublishing(shortcut)
  defineLifecycle(shortcut)
  defineReading(shortcut)
  defineRunning(shortcut)
}

function definePublishing(shortcut: Command): void {
  withDetailOptions(shortcut.command('publish'))
    .description('Publish the current version of a workflow as a shortcut')
    .requiredOption('--workflow <workflow_id>', 'the workflow whose main sheet the shortcut runs')
    .requiredOption('--name <name>', 'its name')
    .option('--inputs <file>', 'JSON array of input_schema entries, instead of one for each input')
    .option('--outputs <file>', 'JSON array of output_schema entries, instead of one for each output')
    .option('--email <address>', 'the publisher (default the owner of the workflow)')
    .option('--org <org_id>', 'organisation of the workflow, as a check')
    .addHelpText(
      'after',
      examples(
        'loam shortcut publish --workflow <workflow_id> --name "Find email" --icon-emoji 📮',
        'loam shortcut publish --workflow <workflow_id> --name "Find email" --inputs inputs.json --outputs outputs.json',
      ),
    )
    .action(
      inSession(PublishFlags, async ({ db }, { workflow, org, email, ...flags }) => {
        const orgId = await findOrganisationOfWorkflow(db, workflow)
        if (orgId === undefined || (org !== undefined && org !== orgId))
          throw notFound(`Workflow ${workflow}`)
        const organisation = await resolveOrganisation(db, { org: orgId })
        const owned = (await listOwnedWorkflows(db, orgId)).find((entry) => entry.workflow_id === workflow)
        const creator = email ?? owned?.owner ?? null
        if (creator === null)
          throw invalid('email', 'the workflow has no owner; name the publisher with --email')
        const member = await requireMember(db, organisation, creator)
        const publisher = await openPublisher(db, orgId, member.member_id)
        const { name, description = '', coverImage: cover_image = null, iconEmoji: icon_emoji = null } = flags
        const details = { name, description, cover_image, icon_emoji }
        const made = await publishShortcut(publisher, workflow, member, {
          shown: details,
          given: readSchemas(flags),
        })
        return shortcutOutput(made, `Published ${name}`)
      }),
    )

  shortcut
    .command('republish')
    .argument(...ID)
    .description('Publish the current version of the workflow; runs use it from now on')
    .option('--inputs <file>', 'JSON array of input_schema entries')
    .option('--outputs <file>', 'JSON array of output_schema entries')
    .addHelpText('after', examples('loam shortcut republish <id>'))
    .action(
      inSession(z.strictObject({ id: ShortcutId, ...SchemaFlags }), async ({ db }, flags) => {
        const found = await requireShortcut(db, flags.id)
        const publisher = await openPublisher(db, found.org_id, found.creator_id)
        const made = await republishShortcut(publisher, found, readSchemas(flags))
        return shortcutOutput(made, `Republished ${made.name} as version ${made.version}`)
      }),
    )
}

function defineLifecycle(shortcut: Command): void {
  withDetailOptions(shortcut.command('update'))
    .argument(...ID)
    .description('Change name, description, cover or emoji')
    .option('--name <name>', 'its name')
    .addHelpText('after', examples('loam shortcut update <id> --description "Finds an address"'))
    .action(
      inSession(z.strictObject({ id: ShortcutId, ...DetailsFlags }), async ({ db }, { id, ...flags }) => {
        const { coverImage, iconEmoji, ...details } = flags
        const change = {
          ...details,
          ...(coverImage === undefined ? {} : { cover_image: coverImage }),
          ...(iconEmoji === undefined ? {} : { icon_emoji: iconEmoji }),
        }
        if (Object.keys(change).length === 0) {
          throw invalid('name', 'at least one of name, description, cover-image, icon-emoji is required')
        }
        const changed = await updateShortcutDetails(db, OPERATOR, await requireShortcut(db, id), change)
        return shortcutOutput(changed, `Changed ${changed.name}`)
      }),
    )

  for (const [verb, state, about] of [
    ['unpublish', 'unpublished', 'Unpublish a shortcut: it cannot be run until it is republished'],
    ['archive', 'archived', 'Archive a shortcut: it cannot be run until it is republished'],
  ] as const) {
    shortcut
      .command(verb)
      .argument(...ID)
      .description(about)
      .addHelpText('after', examples(`loam shortcut ${verb} <id>`))
      .action(
        inSession(z.strictObject({ id: ShortcutId }), async ({ db }, { id }) => {
          const changed = await setShortcutState(db, OPERATOR, await requireShortcut(db, id), state)
          return shortcutOutput(changed, `${changed.name} is ${state}`)
        }),
      )
  }

  shortcut
    .command('share')
    .argument(...ID)
    .description('Give a member a copy that runs the current version, or remove the copy')
    .requiredOption('--email <address>', 'a member of the same organisation')
    .option('--revoke', 'remove the copy')
    .addHelpText('after', examples('loam shortcut share <id> --email bob@example.com'))
    .action(
      inSession(
        z.strictObject({ id: ShortcutId, email: KnownEmail, revoke: z.literal(true).exactOptional() }),
        async ({ db }, { id, email, revoke }) => {
          const shared = revoke !== true
          const copy = await shareShortcut(db, OPERATOR, await requireShortcut(db, id), { email, shared })
          return shortcutOutput(copy, shared ? `Shared with ${email}` : `No longer shared with ${email}`)
        },
      ),
    )
}

function defineReading(shortcut: Command): void {
  shortcut
    .command('list')
    .description('List the shortcuts of an organisation, copies included')
    .option('--org <org_id>', 'organisation; required if there are several')
    .addHelpText('after', examples('loam shortcut list', 'loam shortcut list --json'))
    .action(
      inSession(z.strictObject({ org: Org }), async ({ db }, flags) => {
        const { org_id } = await resolveOrganisation(db, flags)
        const all = (await listShortcuts(db, org_id, null)).map(viewShortcut)
        return {
          data: all,
          text: () =>
            formatTable(
              ['SHORTCUT', 'STATE', 'COPY OF', 'NAME'],
              all.map((one) => [one.id, stateOf(one), one.parent_app_id ?? '-', one.name]),
              'No shortcuts.',
            ),
        }
      }),
    )

  shortcut
    .command('show')
    .argument(...ID)
    .description('Show a shortcut with its inputs and outputs')
    .addHelpText('after', examples('loam shortcut show <id>'))
    .action(
      inSession(z.strictObject({ id: ShortcutId }), async ({ db }, { id }) => {
        const found = await requireShortcut(db, id)
        return shortcutOutput(found, found.name)
      }),
    )
}

function defineRunning(shortcut: Command): void {
  shortcut
    .command('run')
    .argument(...ID)
    .description('Run a shortcut and wait until it has ended; exits with 1 if a run did not complete')
    .option('--input <fields...>', 'key=value for each field, or a file with a JSON object')
    .option('--rows <file>', 'a file with a JSON array of objects, run as one batch')
    .option('--email <address>', 'the member who runs it (default the publisher)')
    .option('--timeout <duration>', 'how long to wait: 30s, 10m, 24h', '10m')
    .option('--no-wait', 'return as soon as the run is queued')
    .addHelpText(
      'after',
      examples(
        'loam shortcut run <id> --input domain=example.com name="Ann Lee"',
        'loam shortcut run <id> --rows rows.json --json',
      ),
    )
    .action(async function act(this: Command) {
      const { stderr } = terminalOf(this)
      const report = wantsJson(this) ? () => {} : (line: string) => void stderr.write(`loam: ${line}\n`)
      await inSession(RunFlags, ({ db }, flags) => runShortcut(db, flags, report)).call(this)
    })
}

function withDetailOptions(command: Command): Command {
  return command
    .option('--description <text>', 'what the shortcut does')
    .option('--cover-image <url>', 'a picture; an empty text removes it')
    .option('--icon-emoji <emoji>', 'an emoji; an empty text removes it')
}
