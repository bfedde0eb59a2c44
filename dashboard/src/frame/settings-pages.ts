import type { Scope } from '#contract/scopes.ts'
import {
  Activity,
  KeyRound,
  Link2,
  type Icon,
  MonitorSmartphone,
  ScrollText,
  Users,
  Variable,
} from '../ui/icons.tsx'

type SettingsPage = { name: string; to: string; icon: Icon; text: string; scope?: Scope }

export const SETTINGS: readonly SettingsPage[] = [
  {
    name: 'Members',
    to: '/settings/members',
    icon: Users,
    text: 'Who belongs to the organisation, and as what',
    scope: 'members:write',
  },
  {
    name: 'API keys',
    to: '/settings/keys',
    icon: KeyRound,
    text: 'What programs of yours use, and what they may do',
    scope: 'workflows:read',
  },
  {
    name: 'Connections',
    to: '/settings/connections',
    icon: Link2,
    text: 'Your own accounts with providers, models and CRMs',
  },
  {
    name: 'Environment',
    to: '/settings/environment',
    icon: Variable,
    text: 'Secrets that actions use by name',
    scope: 'workflows:read',
  },
  { name: 'Sessions', to: '/settings/sessions', icon: MonitorSmartphone, text: 'Where you are signed in' },
  {
    name: 'Audit log',
    to: '/settings/audit',
    icon: ScrollText,
    text: 'Who changed what, and when',
    scope: 'members:write',
  },
  {
    name: 'Health',
    to: '/settings/health',
    icon: Activity,
    text: 'How the server is, and its limits',
    scope: 'members:write',
  },
]
