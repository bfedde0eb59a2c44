import type { Command } from 'commander'
import { z } from 'zod'
import { unreadableWords } from '#server/lib/security/secrets.ts'
import { acceptInvitation, pendingInvitations } from '#server/organisation/members.ts'
import { examples, Org } from '../flags.ts'
import { formatTable, formatTime } from '../output.ts'
import { serverAddress } from '../server-address.ts'
import { inSession, resolveOrganisation } from '../session.ts'

const UNREADABLE = unreadableWords('the link', 'remove the invitation and invite again')

const AcceptFlags = z.strictObject({
  token: z.string().trim().min(1, 'must not be empty'),
  firstName: z.string().trim().exactOptional(),
  lastName: z.string().trim().exactOptional(),
})

export function define(invitation: Command): void {
  invitation.addHelpText('after', examples('loam invitation list', 'loam invitation accept --token <token>'))

  invitation
    .command('accept')
    .description('Accept an invitation for the invited person')
    .requiredOption('--token <token>', 'the last part of the invitation link')
    .option('--first-name <text>', 'first name of the new member')
    .option('--last-name <text>', 'last name of the new member')
    .addHelpText('after', examples('loam invitation accept --token <token> --first-name Bob'))
    .action(
      inSession(AcceptFlags, async ({ db }, { token, firstName, lastName }) => {
        const { email, role, org_id } = await acceptInvitation(db, token, {
          first_name: firstName || null,
          last_name: lastName || null,
        })
        return { data: { email, role, org_id }, text: () => `${email} is now ${role} of ${org_id}.` }
      }),
    )

  invitation
    .command('list')
    .description('List pending invitations with their links, to pass on if no mail was sent')
    .option('--org <org_id>', 'organisation; required if there are several')
    .addHelpText('after', examples('loam invitation list', 'loam invitation list --json'))
    .action(
      inSession(z.strictObject({ org: Org }), async ({ db, sealer, config }, flags) => {
        const { org_id } = await resolveOrganisation(db, flags)
        const publicUrl = config.LOAM_PUBLIC_URL ?? serverAddress(config)
        const invitations = await pendingInvitations(db, org_id, sealer, publicUrl)
        return {
          data: invitations.map(({ email, role, created_at, email_sent, link }) => ({
            email,
            role,
            created_at,
            email_sent,
            link,
            ...(link === null ? { problem: UNREADABLE } : {}),
          })),
          text: () =>
            formatTable(
              ['EMAIL', 'ROLE', 'INVITED', 'MAILED', 'LINK'],
              invitations.map(({ email, role, created_at, email_sent, link }) => [
                email,
                role,
                formatTime(created_at),
                email_sent ? 'yes' : 'no',
                link ?? UNREADABLE,
              ]),
              'No pending invitations.',
            ),
        }
      }),
    )
}
