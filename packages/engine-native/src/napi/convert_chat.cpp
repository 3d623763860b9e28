// Conversations and replies between JS and plain structs: the part of convert.h that deals with chats.
#include "napi/convert.h"
#include "napi/reader.h"

#include <string>
#include <utility>

namespace binding {

namespace {

base::Result<llama_rt::ToolCall> to_tool_call(Napi::Value value) {
    Reader reader(value);
    return reader.done(llama_rt::ToolCall{
        .id = reader.string("id"), .name = reader.string("name"), .arguments = reader.string("arguments")});
}

/// The pixels are copied: JS may change or hand on its own while a worker reads these.
base::Result<llama_rt::RgbImage> to_picture(Napi::Value value) {
    Reader reader(value);
    llama_rt::RgbImage picture{.width = reader.integer("width", 1, llama_rt::Vision::kSideMax),
                               .height = reader.integer("height", 1, llama_rt::Vision::kSideMax),
                               .data = {}};
    const Napi::Value data = reader.get("data");
    if (data.IsEmpty() || !data.IsTypedArray() ||
        data.As<Napi::TypedArray>().TypedArrayType() != napi_uint8_array)
        return std::unexpected(wrong("data"));
    const auto bytes = data.As<Napi::Uint8Array>();
    if (bytes.ByteLength() > 3 * static_cast<size_t>(llama_rt::Vision::kPixelsMax))
        return std::unexpected(wrong("data"));
    picture.data.assign(bytes.Data(), bytes.Data() + bytes.ByteLength());
    return reader.done(std::move(picture));
}

base::Result<llama_rt::ContentPart> to_part(Napi::Value value) {
    Reader reader(value);
    llama_rt::ContentPart part{.text = reader.string("text")};
    const Napi::Value image = reader.get("image");
    if (image.IsNull()) return reader.done(std::move(part));
    base::Result<llama_rt::RgbImage> picture = to_picture(image);
    if (!picture) return std::unexpected(picture.error());
    part.picture = std::move(*picture);
    return reader.done(std::move(part));
}

base::Result<llama_rt::ChatMessage> to_message(Napi::Value value) {
    Reader reader(value);
    return reader.done(
        llama_rt::ChatMessage{.role = reader.string("role"),
                              .content = reader.string("content"),
                              .parts = reader.list<llama_rt::ContentPart>("parts", to_part),
                              .reasoning = reader.string("reasoning"),
                              .tool_calls = reader.list<llama_rt::ToolCall>("toolCalls", to_tool_call),
                              .tool_call_id = reader.string("toolCallId"),
                              .name = reader.string("name")});
}

base::Result<llama_rt::Tool> to_tool(Napi::Value value) {
    Reader reader(value);
    return reader.done(llama_rt::Tool{.name = reader.string("name"),
                                      .description = reader.string("description"),
                                      .parameters = reader.string("parameters")});
}

base::Result<std::pair<std::string, std::string>> to_argument(Napi::Value value) {
    Reader reader(value);
    return reader.done(std::pair(reader.string("name"), reader.string("value")));
}

llama_rt::ToolChoice to_tool_choice(const std::string& name) {
    if (name == "none") return llama_rt::ToolChoice::none;
    return name == "required" ? llama_rt::ToolChoice::required : llama_rt::ToolChoice::automatic;
}

/// Holds a pointer for JS, which can do nothing with it but hand it back.
template <class T>
Napi::Value hold(Napi::Env env, std::shared_ptr<const T> object) {
    using Held = std::shared_ptr<const T>;
    if (object == nullptr) return env.Null();
    auto held = std::make_unique<Held>(std::move(object));
    Napi::Value external =
        Napi::External<Held>::New(env, held.get(), [](Napi::Env, Held* data) { delete data; });
    if (!external.IsEmpty()) held.release(); // JS owns it, unless the environment is going away
    return external;
}

} // namespace

base::Result<llama_rt::Chat> to_chat(Napi::Value value) {
    Reader reader(value);
    return reader.done(llama_rt::Chat{
        .messages = reader.list<llama_rt::ChatMessage>("messages", to_message),
        .add_generation_prompt = reader.boolean("addGenerationPrompt"),
        .continues_last = reader.boolean("continuesLast"),
        .tools = reader.list<llama_rt::Tool>("tools", to_tool),
        .tool_choice = to_tool_choice(reader.string("toolChoice")),
        .parallel_tool_calls = reader.boolean("parallelToolCalls"),
        .enable_thinking = reader.boolean("enableThinking"),
        .template_arguments =
            reader.list<std::pair<std::string, std::string>>("templateArguments", to_argument),
        .content_rules = reader.string("contentRules"),
        .content_has_calls = reader.boolean("contentHasCalls"),
        .grammar = reader.string("grammar"),
        .grammar_trigger = reader.string("grammarTrigger"),
    });
}

base::Result<llama_rt::ImageText> to_image_text(Napi::Value value) {
    Reader reader(value);
    return reader.done(llama_rt::ImageText{.text = reader.string("text"),
                                           .images = reader.list<llama_rt::RgbImage>("images", to_picture)});
}

base::Result<std::shared_ptr<const llama_rt::Constraint>> to_constraint(Napi::Value value) {
    if (value.IsNull()) return nullptr;
    if (value.IsEmpty() || !value.IsExternal()) return std::unexpected(wrong("constraint"));
    return *value.As<Napi::External<std::shared_ptr<const llama_rt::Constraint>>>().Data();
}

base::Result<llama_rt::ImageParts> to_images(Napi::Value value) {
    if (value.IsNull()) return llama_rt::ImageParts();
    if (value.IsEmpty() || !value.IsExternal()) return std::unexpected(wrong("images"));
    return **value.As<Napi::External<std::shared_ptr<const llama_rt::ImageParts>>>().Data();
}

base::Result<std::shared_ptr<const llama_rt::ReplyParser>> to_reply_parser(Napi::Value value) {
    if (value.IsEmpty() || !value.IsExternal()) return std::unexpected(wrong("parser"));
    return *value.As<Napi::External<std::shared_ptr<const llama_rt::ReplyParser>>>().Data();
}

Napi::Value from_constraint(Napi::Env env, std::shared_ptr<const llama_rt::Constraint> constraint) {
    return hold(env, std::move(constraint));
}

Napi::Value from_images(Napi::Env env, llama_rt::ImageParts images) {
    if (images.empty()) return env.Null();
    return hold(env, std::make_shared<const llama_rt::ImageParts>(std::move(images)));
}

Napi::Value from_reply_parser(Napi::Env env, std::shared_ptr<const llama_rt::ReplyParser> parser) {
    return hold(env, std::move(parser));
}

Napi::Value from_reply(Napi::Env env, const llama_rt::Reply& reply) {
    Napi::Array calls = Napi::Array::New(env, reply.calls.size());
    for (uint32_t i = 0; i < reply.calls.size(); ++i) {
        Napi::Object call = Napi::Object::New(env);
        call.Set("id", reply.calls[i].id);
        call.Set("name", reply.calls[i].name);
        call.Set("arguments", reply.calls[i].arguments);
        calls.Set(i, call);
    }
    Napi::Object object = Napi::Object::New(env);
    object.Set("content", reply.content);
    object.Set("reasoning", reply.reasoning);
    object.Set("calls", calls);
    return object;
}

} // namespace binding
