import { useRouter } from '@tanstack/react-router'

/** Returns a function that opens an address of the dashboard, including its query. */
export function useGo(): (address: string) => void {
  const { history } = useRouter()
  return (address) => history.push(address)
}
