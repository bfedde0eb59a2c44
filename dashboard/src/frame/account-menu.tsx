import { call } from '../api/calls.ts'
import { send } from '../api/client.ts'
import { useSession } from '../api/session.ts'
import { applyTheme } from '../theme/theme.ts'
import { Button } from '../ui/button.tsx'
import { LogOut, Monitor, Moon, Sun, UserRound } from '../ui/icons.tsx'
import { Menu, MenuItem, MenuLabel, MenuSeparator } from '../ui/menu.tsx'
import { notifyProblem } from '../ui/toasts.tsx'
import { useOrganisationSwitcher } from './organisation-switcher.tsx'

export function AccountMenu() {
  const { email, organisation } = useSession()
  const switcher = useOrganisationSwitcher()
  const signOut = async () => {
    try {
      await send(call('POST /internal/sign-out'))
      // A full page load, so that nothing of this person stays in memory.
      location.assign('/sign-in')
    } catch (error) {
      notifyProblem(error)
    }
  }
  return (
    <>
      <Menu
        trigger={
          <Button kind="ghost" icon={UserRound} className="w-full justify-start max-md:h-9 max-md:w-auto">
            <span className="max-md:sr-only">Account</span>
          </Button>
        }
      >
        <MenuLabel>
          {email}
          <br />
          {organisation.name}
        </MenuLabel>
        <MenuSeparator />
        {switcher.items}
        <MenuItem icon={Sun} onSelect={() => applyTheme('light')}>
          Light
        </MenuItem>
        <MenuItem icon={Moon} onSelect={() => applyTheme('dark')}>
          Dark
        </MenuItem>
        <MenuItem icon={Monitor} onSelect={() => applyTheme('system')}>
          System
        </MenuItem>
        <MenuSeparator />
        <MenuItem icon={LogOut} onSelect={() => void signOut()}>
          Sign out
        </MenuItem>
      </Menu>
      {switcher.dialog}
    </>
  )
}
