import { Link } from '@tanstack/react-router'
import { useCan } from '../../api/session.ts'
import { Page } from '../../frame/page.tsx'
import { SETTINGS } from '../../frame/settings-pages.ts'

/** The list of settings pages, each with its purpose. */
export function Screen() {
  const can = useCan()
  return (
    <Page title="Settings">
      <ul className="grid gap-3 sm:grid-cols-2 lg:grid-cols-3">
        {SETTINGS.filter(({ scope }) => scope === undefined || can(scope)).map(
          ({ name, to, icon: Icon, text }) => (
            <li key={to}>
              <Link to={to} className="flex h-full gap-3 rounded-lg border p-4 hover:bg-subtle">
                <Icon aria-hidden className="mt-0.5 size-4 shrink-0 text-muted" />
                <span>
                  <span className="block font-medium">{name}</span>
                  <span className="text-muted">{text}</span>
                </span>
              </Link>
            </li>
          ),
        )}
      </ul>
    </Page>
  )
}
