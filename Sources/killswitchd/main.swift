print("killswitchd")
