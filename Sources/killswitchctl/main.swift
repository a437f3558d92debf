print("killswitchctl")
